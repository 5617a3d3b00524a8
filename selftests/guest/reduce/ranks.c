// SPDX-License-Identifier: GPL-2.0
/*
 * All-Reduces over RC connections, by NetReduce, from a process per rank; every element is
 * compared bit by bit with the sum in the order of ranks.
 *
 *	ranks [NAME=VALUE...] NETNS,DEVICE,ADDRESS...
 *
 * There is a rank for each NETNS,DEVICE,ADDRESS: its network namespace, or nothing for the
 * caller's, its RDMA device, and the address of its GID. Options:
 *
 *	type=int32|fp32|bf16|fp16 op=sum|min|max
 *	bytes=N			of a buffer
 *	iterations=N		as many All-Reduces, one after the other
 *	mtu=N packets=N window=N	of a packet; of a message; messages in flight
 *	group=N			number of the group
 *	per_leaf=N root=N	a tree: as many ranks below each leaf; which spine is the root
 *	box=ADDRESS		a box beside the switch sums: all connections are to it
 *	sport=RANK:PORT		UDP source port of what the rank sends, by the flow label
 *	psn=N			first PSN; that of each rank is another
 *	timeout=N retry=N	of the queue pairs
 *	stall=SECONDS		the time without progress after which a rank gives up
 *	file=FILE		where the group is written to
 *	load=COMMAND		what loads FILE; without it the group is not loaded
 *	mode=net		NetReduce
 *	mode=lane		the connections of NetReduce with the receivers' own QPNs: what
 *				ranks get where nothing sums. Every element is wrong
 *	mode=ring		a ring, without a switch that sums
 *	fallback=ring		when NetReduce fails, a ring, over other connections
 *	straggle=RANK:MESSAGE:MS	the rank waits before it sends a message
 *	hold=RANK:MESSAGE	the rank says "held" and waits for a line
 *	kill=RANK:MESSAGE	the rank dies
 *	odd=RANK:PACKETS	the rank has so many packets in a message, unlike the others
 *
 * At the end it prints a line: elements that are right, blank (not arrived), wrong, and
 * raw: wrong and the input of the rank before; inputs and memory behind the result that
 * have changed; milliseconds; the same of the ring as fallback.
 *
 * Exit: 0 right, 1 wrong elements, 2 usage or set-up; and where all that arrived was right,
 * inputs are as they were, and the fallback's result, if there is one, is right: 3 a rank
 * stalled, 4 a queue pair failed. 5 the fallback failed.
 */
#include <err.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ranks.h"

enum type type = INT32;
enum op op = SUM;
size_t bytes = 1 << 20, element, count;
unsigned int iterations = 1, mtu = 4096, packets = 40, window = 2, group;
unsigned int timeout = 17, retry = 7, stall = 20, psn = 0xffffe0;
unsigned int per_leaf, root, sport[MAX_RANKS];
const char *file, *load, *mode = "net", *fallback = "", *box;
struct event straggle = { -1, 0, 0 }, hold = { -1, 0, 0 }, death = { -1, 0, 0 };
struct event odd = { -1, 0, 0 };
struct host hosts[MAX_RANKS];
unsigned int nr_ranks;
struct shared *shared;
unsigned int self;

/* Until each rank has come as far, or is dead. */
void barrier(void)
{
	int step = shared->rank[self].step + 1;
	unsigned int i;

	__atomic_store_n(&shared->rank[self].step, step, __ATOMIC_SEQ_CST);
	for (i = 0; i < nr_ranks; i++)
		while (__atomic_load_n(&shared->rank[i].step, __ATOMIC_SEQ_CST) < step)
			usleep(2000);
}

static void options_fail(const char *what)
{
	errx(SETUP, "%s: not understood", what);
}

static unsigned int name_find(const char *const *names, unsigned int n, const char *value)
{
	unsigned int i;

	for (i = 0; i < n && strcmp(names[i], value); i++)
		;
	if (i == n)
		options_fail(value);
	return i;
}

static void event_parse(struct event *event, const char *value)
{
	if (sscanf(value, "%d:%lu:%u", &event->rank, &event->message, &event->ms) < 2)
		options_fail(value);
}

static void sport_parse(const char *value)
{
	unsigned int rank, port;

	if (sscanf(value, "%u:%u", &rank, &port) != 2 || rank >= MAX_RANKS)
		options_fail(value);
	sport[rank] = port;
}

static bool option_text(const char *name, const char *value)
{
	static const char *const types[] = { "int32", "fp32", "bf16", "fp16" };

	if (!strcmp(name, "type"))
		type = name_find(types, 4, value);
	else if (!strcmp(name, "op"))
		op = name_find(op_names, 3, value);
	else if (!strcmp(name, "straggle"))
		event_parse(&straggle, value);
	else if (!strcmp(name, "hold"))
		event_parse(&hold, value);
	else if (!strcmp(name, "kill"))
		event_parse(&death, value);
	else if (!strcmp(name, "odd"))
		event_parse(&odd, value);
	else if (!strcmp(name, "sport"))
		sport_parse(value);
	else if (!strcmp(name, "file"))
		file = value;
	else if (!strcmp(name, "load"))
		load = value;
	else if (!strcmp(name, "box"))
		box = value;
	else if (!strcmp(name, "mode"))
		mode = value;
	else if (!strcmp(name, "fallback"))
		fallback = value;
	else
		return false;
	return true;
}

static void option_number(const char *name, const char *value)
{
	static const struct {
		const char *name;
		unsigned int *to;
	} numbers[] = {
		{ "iterations", &iterations }, { "mtu", &mtu }, { "packets", &packets },
		{ "window", &window }, { "group", &group }, { "timeout", &timeout },
		{ "retry", &retry }, { "stall", &stall }, { "psn", &psn },
		{ "per_leaf", &per_leaf }, { "root", &root },
	};
	unsigned int i;

	if (!strcmp(name, "bytes")) {
		bytes = strtoul(value, NULL, 0);
		return;
	}
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (!strcmp(name, numbers[i].name)) {
			*numbers[i].to = strtoul(value, NULL, 0);
			return;
		}
	}
	options_fail(name);
}

static void host_parse(char *word)
{
	struct host *host = &hosts[nr_ranks];
	char *device = strchr(word, ',');
	char *address = device ? strchr(device + 1, ',') : NULL;

	if (!address || nr_ranks == MAX_RANKS)
		options_fail(word);
	*device++ = 0;
	*address++ = 0;
	snprintf(host->netns, sizeof(host->netns), "%s", word);
	snprintf(host->device, sizeof(host->device), "%s", device);
	snprintf(host->address, sizeof(host->address), "%s", address);
	nr_ranks++;
}

static void options_parse(char **word)
{
	char *value;

	for (; *word; word++) {
		value = strchr(*word, '=');
		if (!value) {
			host_parse(*word);
			continue;
		}
		*value++ = 0;
		if (!option_text(*word, value))
			option_number(*word, value);
	}
	element = formats[type].bytes;
	count = bytes / element;
	if (nr_ranks < 2 || !count || count * element != bytes || !packets || !window ||
	    window > 64 || mtu < 256 || mtu > 4096 || mtu & (mtu - 1))
		errx(SETUP, "two ranks at least, whole elements, packets and a window");
}

static void verdict_add(struct verdict *sum, const struct verdict *more)
{
	sum->right += more->right;
	sum->blank += more->blank;
	sum->wrong += more->wrong;
	sum->raw += more->raw;
	sum->changed += more->changed;
}

static bool verdict_is_bad(const struct verdict *verdict)
{
	return verdict->wrong || verdict->changed;
}

/* The worst that a rank has met; what is wrong is worse. */
static enum outcome report(void)
{
	struct verdict net = {}, ring = {};
	enum outcome worst = RIGHT;
	const struct rank *rank;
	unsigned int i;

	for (i = 0; i < nr_ranks; i++) {
		rank = &shared->rank[i];
		verdict_add(&net, &rank->net);
		verdict_add(&ring, &rank->ring);
		if (rank->outcome > worst)
			worst = rank->outcome;
		if (*rank->reason)
			printf("rank %u: %s\n", i, rank->reason);
	}
	printf("right=%lu blank=%lu wrong=%lu raw=%lu changed=%lu", net.right, net.blank,
	       net.wrong, net.raw, net.changed);
	printf(" ms=%lu ring_right=%lu ring_wrong=%lu\n", shared->ms, ring.right, ring.wrong);
	return verdict_is_bad(&net) || verdict_is_bad(&ring) ? WRONG : worst;
}

/* A rank that has not even begun keeps the others from it. */
static void rank_ended(unsigned int rank, int status, const pid_t *pids)
{
	unsigned int i;

	__atomic_store_n(&shared->rank[rank].step, INT_MAX, __ATOMIC_SEQ_CST);
	shared->rank[rank].outcome = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
	if (shared->rank[rank].outcome != SETUP)
		return;
	for (i = 0; i < nr_ranks; i++)
		kill(pids[i], SIGKILL);
	exit(SETUP);
}

static void ranks_wait(const pid_t *pids)
{
	unsigned int i, left;
	int status;
	pid_t pid;

	for (left = nr_ranks; left; left--) {
		pid = wait(&status);
		for (i = 0; i < nr_ranks; i++)
			if (pids[i] == pid)
				rank_ended(i, status, pids);
	}
}

int main(int argc, char **argv)
{
	pid_t pids[MAX_RANKS] = {};

	(void)argc;
	options_parse(argv + 1);
	shared = mmap(NULL, sizeof(*shared) + (nr_ranks + 1) * bytes, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(SETUP, "no memory");
	for (self = 0; self < nr_ranks; self++) {
		pids[self] = fork();
		if (pids[self] < 0)
			err(SETUP, "no process");
		if (!pids[self])
			return prctl(PR_SET_PDEATHSIG, SIGKILL) ? SETUP : rank_run();
	}
	ranks_wait(pids);
	return report();
}
