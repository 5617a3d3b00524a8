// SPDX-License-Identifier: GPL-2.0
/*
 * A program of MPI that knows nothing of librocesteer-mpi.so, and checks each Allreduce bit by
 * bit.
 *
 *	mpi_calls calls COUNT SEED	at random: type, operation, length, communicator, place,
 *					language
 *	mpi_calls stream COUNT BYTES	sums of doubles of this length
 *	mpi_calls plain COUNT BYTES	the same, without a look at the results
 *	mpi_calls sizes			sums of all lengths; prints a hash of what all have
 *	mpi_calls cost COUNT		a call of one element, against PMPI_Allreduce()
 *
 * Integers, minima and maxima have to be those of PMPI_Allreduce(). Sums of numbers with a
 * fraction depend on their order: they are the sum in the order of the ranks, or, if MPI has
 * summed, what PMPI_Allreduce() yields again. When a group fails, whole pieces are in the order of
 * the ranks, and MPI sums the rest. The last line counts both.
 */
#include <linux/types.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST		(3u << 20)	/* bytes of a buffer */
#define PIECE		(2u << 20)	/* bytes reduced at a time: PORT_BYTES of user/mpi/port.h */
#define COMMS		5
#define RENEW		40		/* calls until a communicator is freed, and made again */

enum type { INT32, INT64, FP32, FP64 };

static const size_t sizes[] = { 4, 8, 4, 8 };

static int rank, ranks;
static __u64 wrong, taken, by_mpi, exact;
static void *input, *result, *again;

static __u64 mix(__u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* Element @i of rank @r of the world. Numbers are so different that their order matters. */
static void element(enum type type, __u64 seed, int r, size_t i, void *to)
{
	__u64 x = mix(mix(seed + r) + i);
	double fraction = (double)(__s64)(x | 1) / (1ull << (x & 31));
	float less = fraction;

	switch (type) {
	case FP32:
		memcpy(to, &less, 4);
		break;
	case FP64:
		memcpy(to, &fraction, 8);
		break;
	default:
		memcpy(to, &x, sizes[type]);
	}
}

static void fill(enum type type, __u64 seed, int r, size_t count, void *to)
{
	size_t i;

	for (i = 0; i < count; i++)
		element(type, seed, r, i, (char *)to + i * sizes[type]);
}

/* Add what rank @r has. */
static void add(enum type type, __u64 seed, int r, size_t count, void *sum)
{
	double fraction;
	float less;
	size_t i;

	for (i = 0; i < count; i++)
		if (type == FP32) {
			element(type, seed, r, i, &less);
			((float *)sum)[i] += less;
		} else {
			element(type, seed, r, i, &fraction);
			((double *)sum)[i] += fraction;
		}
}

/* Sums of complex numbers are those of their parts. */
static bool is_complex(enum type type, MPI_Op op, size_t count, __u64 pick)
{
	return type >= FP32 && op == MPI_SUM && count % 2 == 0 && pick >> 28 & 1;
}

static MPI_Datatype datatype_of(enum type type, __u64 pick, bool complex)
{
	if (complex)
		return type == FP32 ? MPI_C_FLOAT_COMPLEX : MPI_C_DOUBLE_COMPLEX;
	switch (type) {
	case INT32:
		return pick & 1 ? MPI_INT : MPI_INT32_T;
	case INT64:
		return pick % 3 == 0 ? MPI_LONG : pick % 3 == 1 ? MPI_LONG_LONG : MPI_INT64_T;
	case FP32:
		return MPI_FLOAT;
	default:
		return MPI_DOUBLE;
	}
}

static void fail(const char *what, enum type type, size_t count)
{
	if (wrong++ < 4)
		fprintf(stderr, "rank %d: type %d, %zu elements: %s\n", rank, type, count, what);
}

/*
 * The sum in the order of the ranks of a communicator, whose ranks in the world are @world.
 * Return: bytes of the result that are this sum: all, or whole pieces.
 */
static __u64 in_rank_order(enum type type, __u64 seed, size_t count, const int *world, int n)
{
	size_t bytes = count * sizes[type], at, piece;
	int r;

	fill(type, seed, world[0], count, again);
	for (r = 1; r < n; r++)
		add(type, seed, world[r], count, again);
	for (at = 0; at < bytes; at += piece) {
		piece = bytes - at < PIECE ? bytes - at : PIECE;
		if (memcmp(result + at, again + at, piece))
			break;
	}
	return at;
}

/* Is the result, but for its first @from bytes, what MPI has? */
static bool is_mpis(MPI_Op op, __u64 from, size_t bytes, MPI_Comm comm, MPI_Datatype datatype)
{
	int size;

	PMPI_Type_size(datatype, &size);
	PMPI_Allreduce(input + from, again, (bytes - from) / size, datatype, op, comm);
	return !memcmp(result + from, again, bytes - from);
}

static int ranks_of(MPI_Comm comm, int *world)
{
	MPI_Group here, all;
	int n, i, mine[256];

	MPI_Comm_size(comm, &n);
	for (i = 0; i < n; i++)
		mine[i] = i;
	MPI_Comm_group(comm, &here);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_translate_ranks(here, n, mine, all, world);
	MPI_Group_free(&here);
	MPI_Group_free(&all);
	return n;
}

/* The entry of Fortran; compilers of Fortran call it like this. */
void mpi_allreduce_(void *from, void *to, int *count, int *datatype, int *op, int *comm,
		    int *error);

static void fortran(size_t elements, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	int type = MPI_Type_c2f(datatype), f_op = MPI_Op_c2f(op), f_comm = MPI_Comm_c2f(comm);
	int count = elements, error;

	mpi_allreduce_(input, result, &count, &type, &f_op, &f_comm, &error);
	if (error != MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

/* All ranks take part in PMPI_Allreduce(), or none: they agree before. */
static void one(enum type type, MPI_Op op, size_t count, MPI_Comm comm, bool in_place, __u64 seed)
{
	bool complex = is_complex(type, op, count, seed);
	MPI_Datatype datatype = datatype_of(type, seed, complex);
	size_t elements = complex ? count / 2 : count, bytes = count * sizes[type];
	int world[256], n = ranks_of(comm, world);
	__u64 ordered, all = 0;

	fill(type, seed, rank, count, input);
	if (in_place)
		memcpy(result, input, bytes);
	else
		memset(result, 0xa5, bytes);
	if (seed >> 24 & 1 || in_place)
		MPI_Allreduce(in_place ? MPI_IN_PLACE : input, result, elements, datatype, op,
			      comm);
	else
		fortran(elements, datatype, op, comm);
	if (op == MPI_SUM && type >= FP32) {
		ordered = in_rank_order(type, seed, count, world, n);
		PMPI_Allreduce(&ordered, &all, 1, MPI_UINT64_T, MPI_MIN, comm);
		if (all == bytes) {
			taken++;
			return;
		}
		by_mpi++;
		if (!is_mpis(op, all, bytes, comm, datatype))
			fail("neither the sum in rank order nor MPI's", type, count);
		return;
	}
	exact++;
	if (!is_mpis(op, 0, bytes, comm, datatype))
		fail("not what MPI has", type, count);
}

static void renew(MPI_Comm *comm, bool first)
{
	if (!first)
		MPI_Comm_free(comm);
	MPI_Comm_dup(MPI_COMM_WORLD, comm);
}

/* Lengths are as often below as above 64 KiB; one in sixty exceeds what is sent at a time. */
static size_t length(__u64 x)
{
	size_t most = x % 64 == 0 ? MOST : (size_t)64 << (x >> 8) % 13;

	return most / 2 + (x >> 16) % (most / 2);
}

static void calls(__u64 count, __u64 seed)
{
	static MPI_Op ops[3];
	MPI_Comm comm[COMMS];
	__u64 i;

	ops[0] = MPI_SUM;
	ops[1] = MPI_MIN;
	ops[2] = MPI_MAX;
	comm[0] = MPI_COMM_WORLD;
	renew(&comm[1], true);
	MPI_Comm_split(MPI_COMM_WORLD, rank & 1, rank, &comm[2]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm[3]);
	MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1, rank, &comm[4]);
	for (i = 0; i < count; i++) {
		__u64 x = mix(seed * 1000003 + i);
		enum type type = x >> 4 & 3;

		if (i % RENEW == RENEW - 1)
			renew(&comm[1], false);
		one(type, ops[(x >> 8) % 3], length(mix(x)) / sizes[type], comm[(x >> 12) % COMMS],
		    x >> 20 & 1, x);
	}
	for (i = 1; i < COMMS; i++)
		MPI_Comm_free(&comm[i]);
}

static void stream(__u64 count, size_t bytes)
{
	__u64 i;

	for (i = 0; i < count; i++)
		one(FP64, MPI_SUM, bytes / 8, MPI_COMM_WORLD, i & 1, i);
}

static void plain(__u64 count, size_t bytes)
{
	__u64 i;

	fill(FP64, 1, rank, bytes / 8, input);
	for (i = 0; i < count; i++)
		MPI_Allreduce(input, result, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Elements have the same sums whatever the length of their buffer. */
static void of_sizes(void)
{
	static const size_t elements[] = { 2048, 2049, 5000, 16384, 65537, 300000 };
	__u64 hash = 0, first = 0;
	int world[256], n = ranks_of(MPI_COMM_WORLD, world);
	size_t i, k;

	for (i = 0; i < sizeof(elements) / sizeof(*elements); i++) {
		fill(FP64, 7, rank, elements[i], input);
		MPI_Allreduce(input, result, elements[i], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		for (hash = 0, k = 0; k < elements[0]; k++)
			hash = mix(hash ^ ((__u64 *)result)[k]);
		if (i && hash != first)
			fail("another sum than that of another length", FP64, elements[i]);
		first = hash;
		if (in_rank_order(FP64, 7, elements[i], world, n) == elements[i] * sizeof(double))
			taken++;
		else
			fail("not the sum in rank order", FP64, elements[i]);
	}
	printf("hash=%016llx\n", first);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

typedef int allreduce_fn(const void *from, void *to, int count, MPI_Datatype datatype, MPI_Op op,
			 MPI_Comm comm);

/* ns of a call: the least of some rounds */
static double time_of(allreduce_fn *fn, __u64 count)
{
	double best = 1e9, start, t;
	int round, from = 1, to;
	__u64 i;

	for (round = 0; round < 20; round++) {
		start = now();
		for (i = 0; i < count; i++)
			fn(&from, &to, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		t = (now() - start) / count * 1e9;
		best = t < best ? t : best;
	}
	return best;
}

static void cost(__u64 count)
{
	double mpi = time_of(PMPI_Allreduce, count), ours = time_of(MPI_Allreduce, count);

	if (!rank)
		printf("pmpi_ns=%.0f mpi_ns=%.0f more_ns=%.0f\n", mpi, ours, ours - mpi);
}

static void report(void)
{
	__u64 mine[] = { wrong, taken, by_mpi, exact }, all[4];

	PMPI_Reduce(mine, all, 4, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("wrong=%llu rank_order=%llu by_mpi=%llu exact=%llu\n",
		       all[0], all[1],
		       all[2], all[3]);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	__u64 first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	__u64 second = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	input = malloc(MOST);
	result = malloc(MOST);
	again = malloc(MOST);
	if (!strcmp(what, "calls"))
		calls(first, second);
	else if (!strcmp(what, "stream"))
		stream(first, second);
	else if (!strcmp(what, "plain"))
		plain(first, second);
	else if (!strcmp(what, "sizes"))
		of_sizes();
	else if (!strcmp(what, "cost"))
		cost(first);
	report();
	MPI_Finalize();
	return wrong > 0;
}
