/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of ranks, which ranks.c describes. */
#ifndef REDUCE_RANKS_H
#define REDUCE_RANKS_H

#include <infiniband/verbs.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "elements.h"

#define MAX_RANKS	64
#define POISON		0xa5
#define GUARD		4096	/* bytes behind a result */
#define VIRTUAL_QPN	0xC00000u

enum outcome { RIGHT, WRONG, SETUP, STALLED, FAILED, FALLBACK };

struct host {
	char netns[64];
	char device[32];
	char address[INET6_ADDRSTRLEN];
};

/* An action of a rank before it sends a message, or in each message (odd). */
struct event {
	int rank;
	unsigned long message;
	unsigned int ms;
};

/* The end of a connection, for the process of another rank. */
struct end {
	__u32 sends;	/* QPN of the connection to the next rank */
	__u32 receives;	/* of that from the rank before */
	__u32 rkey;
	__u64 va;
	union ibv_gid gid;
};

/* Numbers of elements of a buffer, by what they became. */
struct verdict {
	unsigned long right, blank, wrong, raw, changed;
};

struct rank {
	int step;	/* INT_MAX when it is dead */
	struct end end;
	enum outcome outcome;
	char reason[64];
	struct verdict net, ring;
};

struct shared {
	int failed;	/* some rank */
	unsigned long ms;
	struct rank rank[MAX_RANKS];
	char data[];	/* the expected result, then inputs */
};

/* Options of all ranks: ranks.c */
extern enum type type;
extern enum op op;
extern size_t bytes, element, count;	/* of a buffer, of an element; elements */
extern unsigned int iterations, mtu, packets, window, group, timeout, retry, stall, psn;
extern unsigned int per_leaf, root;	/* ranks below a leaf, 0: one switch; spine */
extern unsigned int sport[MAX_RANKS];	/* UDP source port of a rank's packets, or 0 */
extern const char *file, *load, *mode, *fallback, *box;
extern struct event straggle, hold, death, odd;
extern struct host hosts[MAX_RANKS];
extern unsigned int nr_ranks;
extern struct shared *shared;

/* Variables of this rank's process */
extern unsigned int self;
extern char *in, *out, *scratch;	/* scratch: where a ring receives what it adds */
extern unsigned long sent, completed, received;	/* messages */

/* Until each rank has come as far, or is dead. */
void barrier(void);

/* Enter the host, open its device, map buffers. */
void device_open(void);

/* Connections to the next rank and from the one before. @is_virtual: by way of the group */
void connections_make(bool is_virtual);
void connections_end(void);

/* Send @len bytes of this rank's input or result to @offset of the next rank's result. */
void post(const char *from, size_t len, size_t offset);

/* Wait until something is complete. Return: RIGHT, STALLED, FAILED */
enum outcome progress(void);

unsigned long now_ms(void);

/* The life of a rank. */
enum outcome rank_run(void);

static inline unsigned int rank_next(void)
{
	return (self + 1) % nr_ranks;
}

static inline unsigned int rank_before(void)
{
	return (self + nr_ranks - 1) % nr_ranks;
}

static inline char *expected(void)
{
	return shared->data;
}

static inline char *input(unsigned int rank)
{
	return shared->data + (rank + 1) * bytes;
}

#endif /* REDUCE_RANKS_H */
