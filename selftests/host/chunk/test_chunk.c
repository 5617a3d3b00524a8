// SPDX-License-Identifier: GPL-2.0
/* Plans of collectives: known plans, and properties of random ones. */
#include <errno.h>
#include <string.h>

#include "chunk_plans.h"
#include "../../ktap.h"

#define VECTOR	"selftests/host/chunk/themis_2d.csv"

/* Whether chunk and load of the plan agree with a line of the vector */
static bool line_agrees(const struct chunk_plan *plan, const char *line)
{
	unsigned int chunk, bytes, a, b;
	struct chunk_plan part = *plan;
	double load[2];

	if (sscanf(line, "%u,%u,%u-%u,%lf %lf", &chunk, &bytes, &a, &b, load,
		   load + 1) != 6 || chunk >= plan->of.chunks)
		return false;
	part.of.chunks = chunk + 1;
	part.of.size = (__u64)bytes * part.of.chunks;
	return bytes == chunk_bytes(&plan->of, chunk) &&
	       a == plan->order[chunk][0] && b == plan->order[chunk][1] &&
	       chunk_plan_load(&part, 0) == (__u64)(load[0] * 1e6 + 0.5) &&
	       chunk_plan_load(&part, 1) == (__u64)(load[1] * 1e6 + 0.5);
}

static void test_vector(void)
{
	static const __u32 dims[][2] = { { 16, 150 }, { 64, 100 }, {} };
	struct chunk_collective of = collective(100 << 20, 64, dims);
	FILE *file = fopen(VECTOR, "r");
	unsigned int lines = 0, good = 0;
	struct chunk_plan plan;
	char line[128];

	chunk_plan_make(&plan, &of, CHUNK_THEMIS);
	while (file && fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		lines++;
		good += line_agrees(&plan, line);
	}
	if (file)
		fclose(file);
	chunk_plan_free(&plan);
	ktap_result(lines == 64 && good == 64, "themis plans what ASTRA-sim's OfflineGreedy does");
}

static void test_worked(void)
{
	static const __u32 dims[][2] = { { 4, 2 }, { 4, 1 }, {} };
	struct chunk_collective of = collective(256 << 20, 4, dims);
	__u64 baseline = predict(&of, CHUNK_BASELINE, CHUNK_FIFO);
	__u64 themis = predict(&of, CHUNK_THEMIS, CHUNK_SCF);
	struct chunk_plan plan;
	unsigned int i, first = 0;

	chunk_plan_make(&plan, &of, CHUNK_THEMIS);
	for (i = 0; i < 4; i++)
		first = first << 4 | plan.order[i][0];
	chunk_plan_free(&plan);
	ktap_result(first == 0x0100, "4x4 at 2:1, four chunks: the second begins in dimension 1");
	ktap_result(baseline * 7 == themis * 8,
		    "4x4 at 2:1, four chunks: baseline to themis is 8 to 7");
}

/* The example of the ASTRA-sim tutorial at ASPLOS 2023, simulated with latencies. */
static void test_tutorial(void)
{
	static const __u32 dims[][2] = { { 8, 50 }, { 8, 50 }, { 8, 50 }, {} };
	struct chunk_collective of = collective(GIB, 64, dims);

	ktap_result(is_near(predict(&of, CHUNK_BASELINE, CHUNK_FIFO) / 1e6,
			    35000, 0.001) &&
		    is_near(35000, 35008.129, 0.5),
		    "8x8x8 at 50 GB/s: baseline as simulated");
	ktap_result(is_near(predict(&of, CHUNK_THEMIS, CHUNK_SCF) / 1e6,
			    13586, 0.5) &&
		    is_near(predict(&of, CHUNK_THEMIS, CHUNK_SCF) / 1e6, 13635.871, 0.5),
		    "8x8x8 at 50 GB/s: themis as simulated");
	ktap_result(is_near(chunk_model_ideal(&of) / 1e6, 13307.292, 0.001),
		    "8x8x8 at 50 GB/s: ideal");
}

/* Computed by hand: the first three chunks of three equal dimensions */
static void test_ties(void)
{
	static const __u32 dims[][2] = { { 4, 1 }, { 4, 1 }, { 4, 1 }, {} };
	static const __u8 want[3][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
	struct chunk_collective of = collective(3 << 20, 3, dims);
	struct chunk_plan plan;
	bool same = true;
	int i;

	chunk_plan_make(&plan, &of, CHUNK_THEMIS);
	for (i = 0; i < 3; i++)
		same &= !memcmp(plan.order[i], want[i], 3);
	chunk_plan_free(&plan);
	ktap_result(same, "dimensions of equal load stay as they were");
}

static bool is_permutation(const __u8 *order, __u32 dims)
{
	__u32 seen = 0, k;

	for (k = 0; k < dims; k++)
		seen |= 1u << order[k];
	return seen == (1u << dims) - 1;
}

/* Themis of the paper, in floating point */
struct paper {
	const struct chunk_collective *of;
	double load[CHUNK_MAX_DIMS];
	__u8 list[CHUNK_MAX_DIMS];
	double margin;	/* least relative distance of what was compared */
};

static bool paper_less(struct paper *paper, double a, double b)
{
	double distance = fabs(a - b) / (a > b ? a : b);

	if (a != b && distance < paper->margin)
		paper->margin = distance;
	return a < b;
}

static void paper_sort(struct paper *paper)
{
	__u32 i, j;

	for (i = 0; i + 1 < paper->of->dims; i++)
		for (j = 0; j + 1 < paper->of->dims - i; j++) {
			__u8 *pair = paper->list + j, k = pair[1];

			if (!paper_less(paper, paper->load[pair[1]], paper->load[pair[0]]))
				continue;
			pair[1] = pair[0];
			pair[0] = k;
		}
}

/* Dimensions that leave chunks whole are last. */
static void paper_natural(struct paper *paper)
{
	__u32 n = 0, pass, k;

	for (pass = 0; pass < 2; pass++)
		for (k = 0; k < paper->of->dims; k++) {
			bool sums = paper->of->dim[k].alg == CHUNK_NETREDUCE ||
				    paper->of->dim[k].alg == CHUNK_TREE;

			if (sums == pass)
				paper->list[n++] = k;
		}
}

/* How often the endpoint that sends most sends a chunk that stays whole. */
static double most_sent(const struct chunk_dim *dim)
{
	__u32 most = 0, sent, me, i;
	int way;

	if (dim->alg == CHUNK_NETREDUCE)
		return 1;
	for (me = 0; me < dim->endpoints; me++) {
		for (sent = 0, way = 0; way < 2; way++)
			for (i = 0; i < 4 * chunk_alg_tree_steps(dim->endpoints); i++)
				sent += chunk_alg_tree(way, dim->endpoints, me, i).to != me;
		most = sent > most ? sent : most;
	}
	return most / 2.0;
}

/* A load begins with the latency, as whole bytes that take that long. */
static void paper_begin(struct paper *paper)
{
	__u32 k;

	for (k = 0; k < paper->of->dims; k++) {
		const struct chunk_dim *dim = &paper->of->dim[k];
		double part = (dim->endpoints - 1.0) / dim->endpoints;
		/* The factor makes up for what floating point rounds. */
		double bytes = dim->latency / 1000000000000.0 * dim->bandwidth / 1000000 * GIB;

		if (part)
			paper->load[k] = floor(bytes / part * (1 + 1.0 / 0x10000000000)) * part /
					 dim->bandwidth;
	}
}

static void paper_chunk(struct paper *paper, __u64 bytes)
{
	const struct chunk_dim *dim = paper->of->dim;
	__u32 dims = paper->of->dims, i = 0, k;
	double away;

	paper_sort(paper);
	while (dim[paper->list[i]].endpoints == 1)
		i++;
	k = paper->list[i];
	away = (paper->load[paper->list[dims - 1]] - paper->load[k]) *
	       dim[k].bandwidth * dim[k].endpoints / (dim[k].endpoints - 1);
	if (paper_less(paper, away, bytes / 16))
		paper_natural(paper);
	for (i = 0; i < dims; i++) {
		k = paper->list[i];
		if (is_summed(paper->of, paper->list, i))
			paper->load[k] += bytes * most_sent(&dim[k]) / 2.0 / dim[k].bandwidth;
		else
			paper->load[k] += (double)bytes * (dim[k].endpoints - 1) /
					  dim[k].endpoints / dim[k].bandwidth;
		bytes /= dim[k].endpoints;
	}
}

/*
 * Floating point cannot decide between numbers that are too near to each other, so these
 * plans are not compared.
 */
static void test_paper(bool summed)
{
	unsigned int round, compared = 0, same = 0;

	for (round = 0; round < 3000; round++) {
		struct chunk_collective of = summed ? random_summed() : random_collective();
		struct paper paper = { .of = &of, .margin = 1 };
		struct chunk_plan plan;
		bool equal = true;
		__u32 i;

		of.kind = CHUNK_ALL_REDUCE;
		paper_natural(&paper);
		paper_begin(&paper);
		if (chunk_plan_make(&plan, &of, CHUNK_THEMIS))
			continue;
		for (i = 0; i < of.chunks; i++) {
			paper_chunk(&paper, chunk_bytes(&of, i));
			equal &= !memcmp(plan.order[i], paper.list, of.dims);
		}
		chunk_plan_free(&plan);
		if (paper.margin < 0.000000001)
			continue;
		compared++;
		same += equal;
	}
	printf("# %u of %u plans compared\n", compared, round);
	ktap_result(same == compared && compared > 1000,
		    summed ? "themis counts half of what a dimension sends of chunks that it sums" :
		    "themis is the paper's rule on random networks");
}

static void test_reverse(void)
{
	bool reverse = true, permutation = true;
	int round;

	for (round = 0; round < 2000; round++) {
		struct chunk_collective of = random_collective();
		enum chunk_policy policy = random_below(2);
		struct chunk_plan scatter, gather;
		__u32 i, k;

		of.kind = CHUNK_REDUCE_SCATTER;
		if (chunk_plan_make(&scatter, &of, policy))
			continue;
		of.kind = CHUNK_ALL_GATHER;
		if (chunk_plan_make(&gather, &of, policy))
			reverse = false;
		for (i = 0; i < of.chunks; i++) {
			permutation &= is_permutation(scatter.order[i], of.dims);
			for (k = 0; k < of.dims; k++)
				reverse &= scatter.order[i][k] ==
					   gather.order[i][of.dims - 1 - k];
		}
		for (k = 0; k < of.dims; k++)
			reverse &= chunk_plan_load(&scatter, k) ==
				   chunk_plan_load(&gather, k);
		chunk_plan_free(&scatter);
		chunk_plan_free(&gather);
	}
	ktap_result(permutation, "each chunk goes once through each dimension");
	ktap_result(reverse, "an All-Gather is a Reduce-Scatter backwards");
}

/* Loads have the same bytes in all orders, if all sizes divide; those of an All-to-All each. */
static void test_loads(void)
{
	bool sums = true;
	int round;

	for (round = 0; round < 2000; round++) {
		struct chunk_collective of = random_collective();
		double bytes = 0, want;
		struct chunk_plan plan;
		__u64 all = 1;
		__u32 k;

		for (k = 0; k < of.dims; k++) {
			of.dim[k].endpoints = 2u << random_below(4);
			all *= of.dim[k].endpoints;
		}
		of.size = (of.chunks * all) << random_below(4);
		of.kind = random_below(CHUNK_ALL_TO_ALL + 1);
		if (chunk_plan_make(&plan, &of, CHUNK_THEMIS))
			continue;
		for (k = 0; k < of.dims; k++)
			bytes += chunk_plan_load(&plan, k) / 1e6 * (1 << 20) *
				 of.dim[k].bandwidth / of.dim[0].bandwidth;
		chunk_plan_free(&plan);
		want = of.size - of.size / all;
		if (of.kind == CHUNK_ALL_TO_ALL)
			for (want = 0, k = 0; k < of.dims; k++)
				want += of.size - of.size / of.dim[k].endpoints;
		/* A load is exact to half of a millionth. */
		for (k = 0; k < of.dims; k++)
			want += 0.6 * of.dim[k].bandwidth / of.dim[0].bandwidth;
		sums &= bytes <= want;
		for (k = 0; k < of.dims; k++)
			want -= 1.2 * of.dim[k].bandwidth / of.dim[0].bandwidth;
		sums &= bytes >= want;
	}
	ktap_result(sums, "the loads add up to the bytes of the collective");
}

/*
 * Four and two endpoints, where the four sum in the network: last they send half of a chunk
 * once, first they scatter it.
 */
static void test_summed(void)
{
	static const __u32 dims[][2] = { { 4, 1 }, { 2, 2 }, {} };
	struct chunk_collective of = collective(GIB, 64, dims);
	struct chunk_plan plan, ring;
	bool last = true, refused;
	__u32 i;

	chunk_plan_make(&ring, &of, CHUNK_THEMIS);
	of.dim[0].alg = CHUNK_NETREDUCE;
	chunk_plan_make(&plan, &of, CHUNK_BASELINE);
	for (i = 0; i < of.chunks; i++)
		last &= plan.order[i][0] == 1 && chunk_plan_stages(&plan, i) == 3 &&
			chunk_plan_sums(&plan, i) && chunk_plan_last(&plan, i) == 0;
	/* Half of a chunk's time passes before and behind. */
	ktap_result(last && is_near(time_of(&plan) / 1e6, 500000.0 * (1 + 1 / 64.0), 0.01) &&
		    is_near(chunk_model_ideal(&of) / 1e6, 500000, 0.001),
		    "a dimension that sums in the network is last, and sends a chunk once");
	ktap_result(chunk_plan_hash(&plan) != chunk_plan_hash(&ring),
		    "a plan with sums in the network has a hash of its own");
	chunk_plan_free(&plan);
	chunk_plan_free(&ring);
	of.dim[0].bandwidth = 2 * CHUNK_BANDWIDTH_UNIT;
	of.dim[1].bandwidth = CHUNK_BANDWIDTH_UNIT;
	chunk_plan_make(&plan, &of, CHUNK_THEMIS);
	for (i = 0, last = false; i < of.chunks; i++)
		last |= !chunk_plan_sums(&plan, i) && chunk_plan_stages(&plan, i) == 4;
	ktap_result(last && time_of(&plan) < predict(&of, CHUNK_BASELINE, CHUNK_FIFO) * 0.6,
		    "where another dimension is the slow one, chunks are scattered before it");
	chunk_plan_free(&plan);
	of.kind = CHUNK_REDUCE_SCATTER;
	refused = chunk_plan_make(&plan, &of, CHUNK_THEMIS) == -EINVAL;
	of.kind = CHUNK_ALL_REDUCE;
	of.dim[0].endpoints = 65;
	ktap_result(refused && chunk_plan_make(&plan, &of, CHUNK_THEMIS) == -EINVAL,
		    "only an All-Reduce of up to 64 endpoints is summed in the network");
}

/* Computed by hand: dimensions that take as long, four chunks, which none can begin with. */
static void test_swap(void)
{
	static const __u32 dims[][2] = { { 4, 3 }, { 2, 2 }, {} };
	static const __u32 three[][2] = { { 4, 1 }, { 4, 1 }, { 4, 1 }, {} };
	static const __u8 want[3][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 } };
	struct chunk_collective of = collective(GIB, 4, dims);
	struct chunk_plan plan;
	bool same = true;
	int i;

	of.kind = CHUNK_ALL_TO_ALL;
	ktap_result(is_near(chunk_model_ideal(&of) / 1e6, 250000, 0.001) &&
		    is_near(predict(&of, CHUNK_BASELINE, CHUNK_FIFO) / 1e6, 312500, 0.001) &&
		    is_near(predict(&of, CHUNK_THEMIS, CHUNK_SCF) / 1e6, 250000, 0.001),
		    "all-to-all: no dimension waits for its first chunk");
	of = collective(GIB, 3, three);
	of.kind = CHUNK_ALL_TO_ALL;
	chunk_plan_make(&plan, &of, CHUNK_THEMIS);
	for (i = 0; i < 3; i++)
		same &= !memcmp(plan.order[i], want[i], 3);
	chunk_plan_free(&plan);
	ktap_result(same, "all-to-all: chunks begin in one dimension after the other");
	of.dim[1].alg = CHUNK_HALVING;
	ktap_result(chunk_plan_make(&plan, &of, CHUNK_THEMIS) == -EINVAL,
		    "all-to-all: halving is refused");
}

/*
 * Ranks that plan differently wait for each other for ever. So this changes with the rules only,
 * and never with the machine, the compiler or its options.
 */
#define ALL_PLANS	0xfb03c1ad4d0dda0cull

/* By any rule, queue and number of chunks */
static void test_guard(void)
{
	static const __u32 dims[][2] = { { 16, 200 }, { 8, 100 }, { 8, 50 }, {} };
	struct chunk_collective of = collective(GIB, 4, dims);
	__u32 made = 0, fell = 0, worse = 0, wrong = 0;
	__u64 all = 0;
	struct chunk_plan plan;

	chunk_plan_make(&plan, &of, CHUNK_THEMIS);
	plan.queue = CHUNK_FIFO;
	wrong += chunk_guard(&plan) || !plan.fell_back || !plan.fused;
	chunk_plan_free(&plan);
	while (made < 10000) {
		__u64 before, baseline;

		of = random_any();
		if (chunk_plan_make(&plan, &of, random_below(2)))
			continue;
		made++;
		plan.queue = random_below(2);
		before = time_of(&plan);
		baseline = predict(&of, CHUNK_BASELINE, CHUNK_FIFO);
		wrong += chunk_guard(&plan) || plan.fell_back != (baseline < before);
		fell += plan.fell_back;
		worse += time_of(&plan) > baseline;
		all = all * 31 + chunk_plan_hash(&plan);
		chunk_plan_free(&plan);
	}
	printf("# %u of %u plans fell back\n", fell, made);
	ktap_result(!worse && fell > 100, "no plan takes longer than the baseline");
	printf("# plans %016llx\n", all);
	ktap_result(all == ALL_PLANS, "every machine makes these 10,000 plans");
	ktap_result(!wrong, "a plan falls back to the baseline only if that is faster");
}

/* The hash of the chunks 0-1 and 1-0, computed by other means */
static void test_hash(void)
{
	static const __u32 dims[][2] = { { 4, 2 }, { 4, 1 }, {} };
	struct chunk_collective of = collective(2000001, 2, dims);
	struct chunk_plan plan, other;
	bool differ = true;
	__u64 hash;

	chunk_plan_make(&plan, &of, CHUNK_THEMIS);
	hash = chunk_plan_hash(&plan);
	printf("# %016llx\n", hash);
	ktap_result(hash == 0x8d55fa8fca5d8409ull,
		    "the hash of a plan is that of the documented bytes");
	chunk_plan_make(&other, &of, CHUNK_THEMIS);
	other.of.dim[0].bandwidth++;
	other.of.dim[1].latency++;
	ktap_result(chunk_plan_hash(&other) == hash,
		    "the hash does not depend on rates and latencies");
	other.order[1][0] ^= 1;
	other.order[1][1] ^= 1;
	differ &= chunk_plan_hash(&other) != hash;
	chunk_plan_free(&other);
	other = plan;
	other.queue = CHUNK_FIFO;
	differ &= chunk_plan_hash(&other) != hash;
	other = plan;
	other.fused = true;
	differ &= chunk_plan_hash(&other) != hash;
	other = plan;
	other.of.kind = CHUNK_ALL_GATHER;
	differ &= chunk_plan_hash(&other) != hash;
	other = plan;
	other.of.size--;
	differ &= chunk_plan_hash(&other) != hash;
	other = plan;
	other.of.dim[1].endpoints++;
	differ &= chunk_plan_hash(&other) != hash;
	chunk_plan_free(&plan);
	ktap_result(differ, "the hash depends on all that ranks must agree on");
}

static int code(struct chunk_collective of)
{
	struct chunk_plan plan;
	int ret = chunk_plan_make(&plan, &of, CHUNK_THEMIS);

	if (!ret)
		chunk_plan_free(&plan);
	return ret;
}

static void test_bounds(void)
{
	static const __u32 dims[][2] = { { 4, 2 }, { 4, 1 }, {} };
	struct chunk_collective good = collective(1 << 20, 16, dims), of;
	int refused = 0;

	of = good, of.size = 15, refused += code(of) == -EINVAL;
	of = good, of.size = CHUNK_MAX_SIZE + 1, refused += code(of) == -EINVAL;
	of = good, of.chunks = 0, refused += code(of) == -EINVAL;
	of = good, of.chunks = CHUNK_MAX_CHUNKS + 1;
	refused += code(of) == -EINVAL;
	of = good, of.dims = 0, refused += code(of) == -EINVAL;
	of = good, of.dims = CHUNK_MAX_DIMS + 1, refused += code(of) == -EINVAL;
	of = good, of.dim[1].endpoints = 0, refused += code(of) == -EINVAL;
	of = good, of.dim[1].endpoints = CHUNK_MAX_ENDPOINTS + 1;
	refused += code(of) == -EINVAL;
	of = good, of.dim[1].bandwidth = 0, refused += code(of) == -EINVAL;
	of = good, of.dim[1].bandwidth = CHUNK_MAX_BANDWIDTH + 1;
	refused += code(of) == -EINVAL;
	of = good, of.dim[1].latency = CHUNK_MAX_LATENCY + 1;
	refused += code(of) == -EINVAL;
	of = good, of.dim[0].endpoints = of.dim[1].endpoints = 1;
	refused += code(of) == -EINVAL;
	of = good, of.dim[0].endpoints = 1, refused += code(of) == 0;
	of = good, of.size = CHUNK_MAX_SIZE, of.dim[0].bandwidth = 1;
	refused += code(of) == -ERANGE;
	ktap_result(refused == 14, "numbers out of range are refused");
}

int main(void)
{
	ktap_begin();
	test_vector();
	test_worked();
	test_tutorial();
	test_ties();
	test_paper(false);
	test_paper(true);
	test_reverse();
	test_loads();
	test_summed();
	test_swap();
	test_guard();
	test_hash();
	test_bounds();
	return ktap_end();
}
