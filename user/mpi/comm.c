// SPDX-License-Identifier: GPL-2.0
#include "comm.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "port.h"

#define CHANCES		2u	/* a group that fails is loaded again once */
#define PROGRESS	64u	/* polls without a completion until MPI gets its turn */
#define COMMAND_NS	20000000000ull	/* time that a command has, unless results have more */

/**
 * struct ring - the group for a type and an operation
 * @group: as the switch knows it
 * @part: connections of this rank
 * @ready: all ranks are connected
 * @failures: number of its failures
 * @why: the reason that leaves these calls to MPI for good; COUNT_TAKEN: none
 */
struct ring {
	struct group group;
	struct netreduce part;
	bool ready;
	__u32 failures;
	enum count why;
};

/**
 * struct comm - a communicator
 * @next: the next one of @comms
 * @prev: pointer to this one
 * @mpi: the program's communicator
 * @own: its ranks once more, for agreements
 * @rank: this rank
 * @ranks: number of ranks
 * @why: the reason that leaves all calls to MPI for good; COUNT_TAKEN: none
 * @port: port of this rank
 * @ring: by kind, NULL before the first call
 */
struct comm {
	struct comm *next;
	struct comm **prev;
	MPI_Comm mpi;
	MPI_Comm own;
	int rank;
	int ranks;
	enum count why;
	struct port port;
	struct ring *ring[PORT_PARTS];
};

/**
 * struct card - addresses of a rank, for the others
 * @netreduce: addresses of its NIC and queue pairs
 * @ok: the rank has them
 */
struct card {
	struct netreduce_card netreduce;
	__u32 ok;
};

/**
 * struct answer - answer of the switch, which rank 0 passes on
 * @ret: 0 or a negative errno
 * @number: number of the group
 * @psns: its first PSNs
 */
struct answer {
	int ret;
	__u32 number;
	struct group_psns psns;
};

static struct config config;
static bool exiting;
static int keyval = MPI_KEYVAL_INVALID;
static int world_rank, world_size;

/* All communicators that have a port; threads make and free them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct comm *comms;

/* Offset of the number that is tried next. */
static _Atomic __u32 hint;

/* A communicator for which there is no memory on this rank. */
static struct comm no_memory = { .own = MPI_COMM_NULL, .why = COUNT_DEVICE };

/*
 * Are all ranks all right? No rank leaves before all have come, so a rank that goes on knows
 * that the others are in the call as well.
 */
static bool agree(MPI_Comm own, bool ok)
{
	int mine = ok, all = 0;

	return !PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, own) && all;
}

static __u64 deadline(void)
{
	return clock_ns() + config.timeout;
}

static __u64 command_deadline(void)
{
	return clock_ns() + (config.timeout > COMMAND_NS ? config.timeout : COMMAND_NS);
}

/*
 * Groups
 */

/* The packets of neighbours on one host do not leave it. All ranks find the same. */
static bool on_one_host(const struct card *card, int ranks)
{
	int i;

	for (i = 0; i < ranks; i++)
		if (!memcmp(card[i].netreduce.address.gid,
			    card[(i + 1) % ranks].netreduce.address.gid,
			    sizeof(card->netreduce.address.gid)))
			return true;
	return false;
}

static void describe_group(const struct comm *comm, struct ring *ring, const struct kind *kind,
			   const struct netreduce_card *cards)
{
	struct group *group = &ring->group;
	int i;

	group_init(group, 0, config.packets, config.box, comm->ranks);
	for (i = 0; i < comm->ranks; i++)
		netreduce_put(&cards[i], group, i);
	group->config.type = kind->type;
	group->config.op = kind->op;
	group->config.mtu = netreduce_common_mtu(group, cards);
}

/* Load the group under the first number that is free. */
static struct answer load(struct ring *ring)
{
	struct answer answer = { .ret = -EEXIST };
	__u64 until = command_deadline();
	struct err err = {};
	__u32 tries;

	for (tries = 0; (answer.ret == -EEXIST || answer.ret == -EADDRINUSE) &&
	     tries < config.groups; tries++) {
		answer.number = config.first + hint++ % config.groups;
		ring->group.config.id = answer.number;
		answer.ret = group_join(&ring->group, config.command, until, &err);
	}
	answer.psns = ring->group.psns;
	if (answer.ret)
		count_explain(world_rank, "%s (ROCESTEER_MPI_SWITCH, ROCESTEER_MPI_GROUPS)",
			      err.message);
	else
		count_group();
	return answer;
}

static void unload(const struct comm *comm, struct ring *ring)
{
	struct err err = {};

	if (!comm->rank)
		group_leave(&ring->group, config.command, command_deadline(), &err);
}

/* All ranks give a group up that was ready, or that could not be made so. */
static void leave(struct comm *comm, const struct kind *kind, struct ring *ring)
{
	port_detach(&comm->port, kind->index);
	unload(comm, ring);
	ring->ready = false;
}

static enum count exchange(struct comm *comm, const struct kind *kind, struct ring *ring,
			   struct card *card, struct netreduce_card *cards)
{
	struct card mine = {};
	int i;

	mine.ok = !port_attach(&comm->port, kind->index, &ring->part, &ring->group);
	if (mine.ok)
		netreduce_describe(&ring->part, &mine.netreduce);
	if (PMPI_Allgather(&mine, sizeof(mine), MPI_BYTE, card, sizeof(mine), MPI_BYTE, comm->own))
		return COUNT_CONNECT;
	for (i = 0; i < comm->ranks; i++) {
		if (!card[i].ok)
			return COUNT_CONNECT;
		cards[i] = card[i].netreduce;
	}
	return on_one_host(card, comm->ranks) ? COUNT_HOST : COUNT_TAKEN;
}

/* No rank sends before the switch has the group and all ranks receive. */
static enum count connect_ring(struct comm *comm, const struct kind *kind, struct ring *ring)
{
	struct netreduce_card cards[ROCESTEER_REDUCE_MAX_RANKS];
	struct card card[ROCESTEER_REDUCE_MAX_RANKS];
	struct answer answer = {};
	enum count why;
	bool ok;

	why = exchange(comm, kind, ring, card, cards);
	if (why != COUNT_TAKEN)
		return why;
	describe_group(comm, ring, kind, cards);
	if (!comm->rank)
		answer = load(ring);
	if (PMPI_Bcast(&answer, sizeof(answer), MPI_BYTE, 0, comm->own) || answer.ret) {
		/* Nobody waits for a switch twice. */
		if (answer.ret == -ETIMEDOUT)
			comm->why = COUNT_SWITCH;
		return COUNT_SWITCH;
	}
	ring->group.config.id = answer.number;
	ring->group.psns = answer.psns;
	ok = !netreduce_connect(&ring->part, cards, comm->rank);
	if (!ok)
		count_explain(world_rank, "%s", comm->port.err.message);
	return agree(comm->own, ok) ? COUNT_TAKEN : COUNT_CONNECT;
}

/* Return: the ring, or NULL with @why set. */
static struct ring *ring_get(struct comm *comm, const struct kind *kind, enum count *why)
{
	struct ring *ring = comm->ring[kind->index];

	if (!ring) {
		ring = calloc(1, sizeof(*ring));
		if (!agree(comm->own, ring)) {
			free(ring);
			*why = comm->why = COUNT_DEVICE;
			return NULL;
		}
		comm->ring[kind->index] = ring;
	}
	*why = ring->why;
	if (ring->why != COUNT_TAKEN || ring->ready)
		return ring->ready ? ring : NULL;
	*why = ring->why = connect_ring(comm, kind, ring);
	ring->ready = ring->why == COUNT_TAKEN;
	if (!ring->ready)
		leave(comm, kind, ring);
	return ring->ready ? ring : NULL;
}

/*
 * Runs
 */

/*
 * MPI gets its turn while results are awaited: what a rank still has to send for the last
 * agreement may be in MPI's hands.
 */
static void turn(const struct comm *comm)
{
	int flag;

	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm->own, &flag, MPI_STATUS_IGNORE);
	sched_yield();
}

/*
 * All ranks have come, so results follow each other, unless a rank or the switch has failed.
 * Return: whether all results are there, and sent.
 */
static bool run(struct comm *comm, struct ring *ring, __u64 bytes)
{
	struct netreduce *part = &ring->part;
	__u64 until = deadline();
	__u32 idle = 0;

	netreduce_reset(part);
	netreduce_deal(part, 0, bytes);
	netreduce_start(part);
	while (!netreduce_is_over(part)) {
		if (port_poll(&comm->port)) {
			until = deadline();
			idle = 0;
			continue;
		}
		if (++idle % PROGRESS)
			continue;
		turn(comm);
		if (clock_ns() > until)
			netreduce_fail(part, "no result for %llu ms, with %llu of %llu here",
				       config.timeout / 1000000, part->received, part->messages);
	}
	return !part->failure[0];
}

static void ring_failed(struct comm *comm, const struct kind *kind, struct ring *ring)
{
	if (ring->part.failure[0])
		count_explain(world_rank, "group %u: %s", ring->group.config.id,
			      ring->part.failure);
	leave(comm, kind, ring);
	if (++ring->failures == CHANCES)
		ring->why = COUNT_GIVEN_UP;
}

/*
 * Reduce a piece of the buffer after the other. The input of a piece is intact until all ranks
 * have its result: a rank may have it while another has not, and then all of them need MPI.
 * The agreement on a piece tells each rank as well that the others have come to the next one.
 *
 * Return: bytes that are reduced.
 */
static __u64 reduce(struct comm *comm, const struct kind *kind, struct ring *ring,
		    const void *from, void *to, __u64 bytes)
{
	__u64 at, piece;

	if (!agree(comm->own, true))
		return 0;
	for (at = 0; at < bytes; at += piece) {
		piece = bytes - at < PORT_BYTES ? bytes - at : PORT_BYTES;
		memcpy(comm->port.in, from + at, piece);
		if (!agree(comm->own, run(comm, ring, piece))) {
			ring_failed(comm, kind, ring);
			return at;
		}
		memcpy(to + at, comm->port.out, piece);
	}
	return bytes;
}

/*
 * Communicators
 */

static void comm_add(struct comm *comm)
{
	pthread_mutex_lock(&lock);
	comm->next = comms;
	comm->prev = &comms;
	if (comms)
		comms->prev = &comm->next;
	comms = comm;
	pthread_mutex_unlock(&lock);
}

static void comm_del(struct comm *comm)
{
	pthread_mutex_lock(&lock);
	*comm->prev = comm->next;
	if (comm->next)
		comm->next->prev = comm->prev;
	pthread_mutex_unlock(&lock);
}

/* The last agreement has told that no rank needs the group any more. */
static void comm_end(struct comm *comm)
{
	__u32 i;

	for (i = 0; i < PORT_PARTS; i++)
		if (comm->ring[i] && comm->ring[i]->ready)
			unload(comm, comm->ring[i]);
	port_close(&comm->port);
	for (i = 0; i < PORT_PARTS; i++)
		free(comm->ring[i]);
	free(comm);
}

/*
 * MPI frees the communicator, on all ranks. At the end of MPI ranks may do so in another order,
 * and leave @own to it.
 */
static int comm_deleted(MPI_Comm mpi, int key, void *value, void *extra)
{
	struct comm *comm = value;

	(void)mpi;
	(void)key;
	(void)extra;
	if (comm == &no_memory)
		return MPI_SUCCESS;
	if (comm->own != MPI_COMM_NULL && !exiting)
		PMPI_Comm_free(&comm->own);
	comm_del(comm);
	comm_end(comm);
	return MPI_SUCCESS;
}

/* Settings are those of rank 0 of this world. */
static bool in_world(MPI_Comm mpi, int ranks)
{
	int mine[ROCESTEER_REDUCE_MAX_RANKS], other[ROCESTEER_REDUCE_MAX_RANKS], i;
	MPI_Group here, world;
	bool in = true;

	for (i = 0; i < ranks; i++)
		mine[i] = i;
	PMPI_Comm_group(mpi, &here);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(here, ranks, mine, world, other);
	PMPI_Group_free(&here);
	PMPI_Group_free(&world);
	for (i = 0; i < ranks; i++)
		in = in && other[i] != MPI_UNDEFINED;
	return in;
}

static bool fits(MPI_Comm mpi, int *ranks)
{
	int inter;

	return !PMPI_Comm_test_inter(mpi, &inter) && !inter && !PMPI_Comm_size(mpi, ranks) &&
	       *ranks >= REDUCE_MIN_RANKS && *ranks <= ROCESTEER_REDUCE_MAX_RANKS &&
	       in_world(mpi, *ranks);
}

static void open_port(struct comm *comm)
{
	bool ok = !port_open(&comm->port, config_device(), config.timeout / 4);

	if (!ok)
		count_explain(world_rank, "%s", comm->port.err.message);
	if (!agree(comm->own, ok))
		comm->why = COUNT_DEVICE;
}

/*
 * The ranks of a communicator that is one for the network, without its attributes, which belong
 * to the program. MPI_COMM_NULL: it is none, for the reason @why.
 */
static MPI_Comm split(MPI_Comm mpi, const struct comm *comm, int *ranks, enum count *why)
{
	MPI_Comm own = MPI_COMM_NULL;
	int rank;

	*why = COUNT_COMM;
	if (!fits(mpi, ranks) || PMPI_Comm_rank(mpi, &rank) || PMPI_Comm_split(mpi, 0, rank, &own))
		return MPI_COMM_NULL;
	*why = COUNT_TAKEN;
	if (!agree(own, comm)) {
		*why = COUNT_DEVICE;
		PMPI_Comm_free(&own);
	}
	return own;
}

/* The first call on a communicator, on all of its ranks */
static struct comm *comm_new(MPI_Comm mpi)
{
	struct comm *comm = calloc(1, sizeof(*comm));
	enum count why;
	int ranks = 0;
	MPI_Comm own = split(mpi, comm, &ranks, &why);

	if (comm)
		*comm = (struct comm) { .own = own, .ranks = ranks, .why = why };
	if (comm && why == COUNT_TAKEN) {
		PMPI_Comm_rank(own, &comm->rank);
		open_port(comm);
	}
	if (comm) {
		comm->mpi = mpi;
		comm_add(comm);
	}
	PMPI_Comm_set_attr(mpi, keyval, comm ?: &no_memory);
	return comm ?: &no_memory;
}

/* Return: the communicator; NULL after an error of MPI. */
static struct comm *comm_get(MPI_Comm mpi)
{
	struct comm *comm;
	int found = 0;

	if (PMPI_Comm_get_attr(mpi, keyval, &comm, &found))
		return NULL;
	return found ? comm : comm_new(mpi);
}

static const void *behind(const void *from, __u64 bytes)
{
	return from == MPI_IN_PLACE ? from : from + bytes;
}

int comm_allreduce(const void *from, void *to, int count, MPI_Datatype datatype, MPI_Op op,
		   MPI_Comm mpi, const struct kind *kind)
{
	struct comm *comm = comm_get(mpi);
	enum count why = comm ? comm->why : COUNT_COMM;
	__u64 bytes = (__u64)count * kind->size, done = 0;
	struct ring *ring = NULL;

	if (why == COUNT_TAKEN)
		ring = ring_get(comm, kind, &why);
	if (ring) {
		done = reduce(comm, kind, ring, from == MPI_IN_PLACE ? to : from, to, bytes);
		why = done == bytes ? COUNT_TAKEN : COUNT_FAILED;
		count_bytes(done);
	}
	count_call(why);
	if (done == bytes)
		return MPI_SUCCESS;
	return PMPI_Allreduce(behind(from, done), to + done, count - done / kind->size, datatype,
			      op, mpi);
}

int comm_init(const struct config *settings)
{
	config = *settings;
	PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
	/* Ranks 0 of disjoint communicators begin with numbers of their own. */
	hint = (__u64)world_rank * config.groups / world_size;
	return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_deleted, &keyval, NULL);
}

void comm_exit(void)
{
	exiting = true;
	while (comms)
		PMPI_Comm_delete_attr(comms->mpi, keyval);
}
