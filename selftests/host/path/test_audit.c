// SPDX-License-Identifier: GPL-2.0
/* What path audit says of the routers of maps: how many cores are reached, and is that all? */
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/base.h"
#include "../../ktap.h"

#define AGG	0x0a020000
#define CORE	0x0a030000

static void put_v4(__u8 addr[16], __u32 value)
{
	const __u8 all[16] = { [10] = 0xff, 0xff, value >> 24, value >> 16, value >> 8, value };

	memcpy(addr, all, 16);
}

/**
 * struct fabric - what a host sees of one
 * @aggs: that ports reach
 * @cores: behind each
 * @fewer: of these, behind the last agg
 * @first: core behind each agg that is reached first
 * @pod: whose aggs are met
 * @unnamed: aggs that do not answer
 */
struct fabric {
	unsigned int aggs;
	unsigned int cores;
	unsigned int fewer;
	unsigned int first;
	unsigned int pod;
	unsigned int unnamed;
};

/* One peer in another pod, whose @paths are filled */
static struct portmap_peer peer_of(const struct fabric *fabric, struct portmap_path *paths)
{
	struct portmap_peer peer = { .hop = 3, .leaf_hop = 5, .paths = paths };
	unsigned int a, k;

	for (a = 0; a < fabric->aggs; a++)
		for (k = 0; k < fabric->cores - (a + 1 == fabric->aggs) * fabric->fewer; k++) {
			struct portmap_path *path = &paths[peer.nr_paths++];

			*path = (struct portmap_path) {};
			put_v4(path->router, CORE + (a << 8) + fabric->first + k);
			if (a >= fabric->unnamed)
				put_v4(path->via, AGG + (fabric->pod << 8) + a);
		}
	return peer;
}

/* A map with that peer, and another one in the pod, by the same aggs */
static struct audit_site site_of(const struct fabric *fabric)
{
	struct portmap_path across[ROCESTEER_MAX_PATHS], near[ROCESTEER_MAX_PATHS] = {};
	struct portmap_peer peers[2] = { peer_of(fabric, across),
					 { .hop = 2, .leaf_hop = 3, .paths = near } };
	struct portmap map = { .peers = peers, .nr_peers = 2 };
	struct audit_site site;

	for (; peers[1].nr_paths < fabric->aggs; peers[1].nr_paths++)
		put_v4(near[peers[1].nr_paths].router,
		       AGG + (fabric->pod << 8) + peers[1].nr_paths);
	if (!fabric->cores)
		map = (struct portmap) { .peers = &peers[1], .nr_peers = 1 };
	if (audit_read(&site, &map))
		exit(1);
	return site;
}

static bool judged(struct fabric fabric, struct audit_known known, enum audit_verdict verdict)
{
	struct portmap_path paths[ROCESTEER_MAX_PATHS];
	struct audit_site site = site_of(&fabric);
	enum audit_verdict found = audit_judge(&site.sight, known);
	struct portmap_peer peer = peer_of(&fabric, paths);
	int alone = audit_judge_peer(&peer, false, known.cores);

	audit_free(&site);
	if (found != verdict || (!known.at_least && alone != (int)verdict))
		printf("# %u x %u cores of %u: %d, alone %d, not %d\n", fabric.aggs,
		       fabric.cores, known.cores, found, alone, verdict);
	return found == verdict && (known.at_least || alone == (int)verdict);
}

static bool nothing_known(void)
{
	const struct audit_known none = {};

	return judged((struct fabric) { .aggs = 4 }, none, AUDIT_NO_CORES) &&
	       judged((struct fabric) { .aggs = 4, .cores = 4 }, none, AUDIT_UNKNOWN) &&
	       judged((struct fabric) { .aggs = 4, .cores = 2 }, none, AUDIT_FEWER) &&
	       judged((struct fabric) { .aggs = 2, .cores = 4 }, none, AUDIT_UNKNOWN) &&
	       judged((struct fabric) { .aggs = 4, .cores = 4, .fewer = 1 }, none, AUDIT_FEWER);
}

static bool number_known(void)
{
	const struct audit_known all = { .cores = 16 };

	return judged((struct fabric) { .aggs = 4, .cores = 4 }, all, AUDIT_ALL) &&
	       judged((struct fabric) { .aggs = 4, .cores = 5 }, all, AUDIT_MORE) &&
	       judged((struct fabric) { .aggs = 4, .cores = 2 }, all, AUDIT_POLARISED) &&
	       judged((struct fabric) { .aggs = 4, .cores = 1 }, all, AUDIT_POLARISED);
}

/* What is missing is not the same part behind each agg: links are down, or routers silent. */
static bool links_missing(void)
{
	const struct audit_known all = { .cores = 16 };

	return judged((struct fabric) { .aggs = 4, .cores = 4, .fewer = 1 }, all, AUDIT_MISSING) &&
	       judged((struct fabric) { .aggs = 4, .cores = 2, .fewer = 1 }, all, AUDIT_MISSING) &&
	       judged((struct fabric) { .aggs = 4, .cores = 3 }, all, AUDIT_MISSING) &&
	       judged((struct fabric) { .aggs = 4, .cores = 2, .unnamed = 1 }, all, AUDIT_MISSING);
}

/* Other maps reach at least so many: that reached ones divide them means nothing. */
static bool at_least(void)
{
	return judged((struct fabric) { .aggs = 4, .cores = 2 },
		      (struct audit_known) { .cores = 12, .at_least = true }, AUDIT_POLARISED) &&
	       judged((struct fabric) { .aggs = 4, .cores = 2, .fewer = 1 },
		      (struct audit_known) { .cores = 12, .at_least = true }, AUDIT_MISSING) &&
	       judged((struct fabric) { .aggs = 4, .cores = 2 },
		      (struct audit_known) { .cores = 8, .at_least = true }, AUDIT_ALL);
}

/* So many cores together, as the first one sees it, and so many maps left out */
static bool together(const struct fabric *fabrics, size_t nr, unsigned int cores,
		     unsigned int apart)
{
	struct audit_site sites[3];
	unsigned int found, left;
	size_t i;
	bool ok;

	for (i = 0; i < nr; i++)
		sites[i] = site_of(&fabrics[i]);
	ok = !audit_union(sites, nr, &sites[0], &found, &left) && found == cores && left == apart;
	if (!ok)
		printf("# %u cores together, %u maps apart\n", found, left);
	for (i = 0; i < nr; i++)
		audit_free(&sites[i]);
	return ok;
}

static bool unions(void)
{
	static const struct fabric same[] = {
		{ .aggs = 2, .cores = 2 }, { .aggs = 2, .cores = 2, .pod = 1 },
	};
	static const struct fabric others[] = {
		{ .aggs = 2, .cores = 2 }, { .aggs = 2, .cores = 2, .first = 1, .pod = 1 },
	};
	static const struct fabric one_pod[] = {
		{ .aggs = 2, .cores = 2 }, { .aggs = 2, .cores = 2, .first = 2 },
	};
	static const struct fabric apart[] = {
		{ .aggs = 2, .cores = 2 }, { .aggs = 2, .cores = 2, .first = 2, .pod = 1 },
		{ .aggs = 2, .cores = 4, .pod = 2 },
	};

	return together(same, 1, 4, 0) && together(same, 2, 4, 0) && together(others, 2, 6, 0) &&
	       together(one_pod, 2, 8, 0) && together(apart, 2, 4, 1) &&
	       together(apart, 3, 8, 1);
}

int main(void)
{
	ktap_begin();
	ktap_result(nothing_known(), "without a number of cores none are said to be missing");
	ktap_result(number_known(), "the same part behind each agg is polarisation");
	ktap_result(links_missing(), "other parts are missing links");
	ktap_result(at_least(), "what other hosts reach is a lower bound");
	ktap_result(unions(), "cores of hosts that share a router are counted together");
	return ktap_end();
}
