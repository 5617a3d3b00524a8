// SPDX-License-Identifier: GPL-2.0
/* Plans of groups, labels of ranks, and shares of a buffer */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rocesteer/label.h>

#include "../../../user/perf/switch/reduction.h"
#include "../../ktap.h"

#define RANK0	"{\"address\":\"10.1.0.1\",\"leaf\":0}"
#define RANK1	"{\"address\":\"10.1.0.2\",\"leaf\":2,\"router\":\"10.255.1.2\"}"
#define RANKS	"\"ranks\":[" RANK0 "," RANK1 "]"
#define SIZES	"\"mtu\":4096,\"packets\":40,\"window\":2,"
#define GROUP	"{\"group\":5,\"root\":1," SIZES RANKS "}"
#define PLAN(groups)	"{\"format\":1,\"job\":\"train\",\"groups\":[" groups "]}"
#define PATH(router, port)	"{\"path\":0,\"router\":\"" router "\",\"ports\":[" port "]}"
#define PEER(address, source, router) "{\"address\":\"" address "\",\"source\":\"" source "\"," \
		"\"local\":false,\"leaf\":\"10.255.0.2\",\"probed\":2,\"paths\":[" \
		PATH(router, "49152,49160") "]}"
#define MAP(address, router)	"{\"format\":1,\"generation\":1," \
		"\"created\":\"2026-01-02T03:04:05Z\",\"device\":\"eth0\",\"hop\":2," \
		"\"peers\":[" PEER("10.1.0.1", "10.1.0.77", "10.255.1.1") "," \
		PEER(address, "10.1.0.2", router) "]}"

static char file[64];

static int read_plan(const char *text, struct reduction *groups, struct err *err)
{
	FILE *out = fopen(file, "w");

	fputs(text, out);
	fclose(out);
	*groups = (struct reduction) {};
	return reduction_read(file, 2, groups, err);
}

static void test_read(void)
{
	struct reduction groups, other;
	struct err err = {};
	bool right;

	right = !read_plan(PLAN(GROUP), &groups, &err) && groups.nr == 1 &&
		groups.group->config.id == 5 && groups.group->config.root == 1 &&
		groups.group->switches == 3 && !strcmp(groups.group->at[1].name, "leaf2") &&
		!strcmp(groups.group->at[2].option, " --spine 1") &&
		reduction_have_routers(&groups);
	ktap_result(right, "a plan of leaves and a root is read %s", err.message);
	right = !read_plan(PLAN("{\"group\":5," SIZES "\"ranks\":[" RANK0 "," RANK0 "]}"), &other,
			   &err) &&
		other.group->config.root == REDUCE_NO_ROOT && other.group->switches == 1 &&
		!reduction_have_routers(&other);
	ktap_result(right, "a plan of one leaf is read %s", err.message);
	ktap_result(reduction_hash(&groups) != reduction_hash(&other),
		    "two plans have different hashes");
	reduction_free(&other);
	reduction_free(&groups);
}

/* Ranks compare all fields of a plan. */
static void test_hash(void)
{
	struct reduction groups;
	__u64 first;
	bool differs;

	read_plan(PLAN(GROUP), &groups, NULL);
	first = reduction_hash(&groups);
	groups.group->config.rank[1].router[15]++;
	differs = reduction_hash(&groups) != first;
	groups.group->config.rank[1].router[15]--;
	groups.group->config.root++;
	differs &= reduction_hash(&groups) != first;
	groups.group->config.root--;
	ktap_result(differs && reduction_hash(&groups) == first,
		    "each field changes the hash of a plan");
	reduction_free(&groups);
}

/* A plan with this text is refused with a message that ends so. */
static void rejects(const char *text, const char *message)
{
	struct reduction groups;
	struct err err = {};
	char want[256];
	int ret = read_plan(text, &groups, &err);

	reduction_free(&groups);
	snprintf(want, sizeof(want), "%s: %s", file, message);
	ktap_result(ret < 0 && err.exit_status == EXIT_BAD_INPUT && !strcmp(err.message, want),
		    "refused: %s", message);
	if (!ret || strcmp(err.message, want))
		printf("# got: %s\n", ret ? err.message : "no error");
}

static void test_bad(void)
{
	rejects("[]", "format: is missing");
	rejects("{\"format\":2}", "format: 2 is not a number from 1 to 1");
	rejects(PLAN(""), "groups: has 0 entries, not 1 to 64");
	rejects(PLAN("7"), "groups[0].group: is missing");
	rejects(PLAN(GROUP "," GROUP), "groups[1].group: 5 is that of groups[0] too");
	rejects(PLAN("{\"group\":5,\"mtu\":4097}"),
		"groups[0].mtu: 4097 is not a number from 256 to 4096");
	rejects(PLAN("{\"group\":5,\"mtu\":300,\"packets\":1,\"window\":1}"),
		"groups[0].mtu: 300 is not one of 256, 512, 1024, 2048, 4096");
	rejects(PLAN("{\"group\":5,\"mtu\":512,\"packets\":2048,\"window\":3}"),
		"groups[0].window: 3 messages of 2048 packets are more than 4096 packets");
	rejects(PLAN("{\"group\":5," SIZES "\"ranks\":[" RANK0 "]}"),
		"groups[0].ranks: has 1 entries, not 2 to 64");
	rejects(PLAN("{\"group\":5," SIZES "\"ranks\":[" RANK0 "," RANK0 "," RANK0 "]}"),
		"groups[0].ranks: has 3 entries; by --dims there are 2 ranks");
	rejects(PLAN("{\"group\":5," SIZES "\"ranks\":[{\"address\":\"10.1.0.1\"}," RANK0 "]}"),
		"groups[0].ranks[0].leaf: is missing");
	rejects(PLAN("{\"group\":5," SIZES "\"ranks\":[" RANK0
		     ",{\"address\":\"fd00::1\",\"leaf\":0}]}"),
		"groups[0].ranks[1].address: is not of the family of ranks[0]");
	rejects(PLAN("{\"group\":5," SIZES RANKS "}"),
		"groups[0].root: is missing: the ranks have more than one leaf");
	rejects(PLAN("{\"group\":5," SIZES "\"ranks\":[" RANK1 "," RANK0 "]}"),
		"groups[0].ranks[1].leaf: 0 is below that of the rank before");
	rejects(PLAN("{\"group\":5," SIZES "\"ranks\":[" RANK0 ",{\"address\":\"x\"}]}"),
		"groups[0].ranks[1].address: 'x' is not an address of a host");
	rejects(PLAN("{\"group\":5," SIZES "\"ranks\":[{\"address\":\"10.1.0.1\",\"leaf\":0,"
		     "\"router\":7}," RANK0 "]}"),
		"groups[0].ranks[0].router: is of type int, not string");
}

/* A label of rank 1, by a map; ~0: there is none, and @message says why. */
static __u32 label_of(const char *text, char *message)
{
	struct reduction groups;
	struct err err = {};
	FILE *out;
	__u32 label[REDUCTION_GROUPS];
	int ret;

	read_plan(PLAN(GROUP), &groups, &err);
	out = fopen(file, "w");
	fputs(text, out);
	fclose(out);
	ret = reduction_labels(&groups, 1, file, label, &err);
	reduction_free(&groups);
	snprintf(message, sizeof(err.message), "%s", err.message + strlen(file) * !!ret);
	return ret ? ~0u : label[0];
}

static void test_labels(void)
{
	char message[512];
	struct reduction groups;
	__u32 label[REDUCTION_GROUPS];
	__u32 got = label_of(MAP("10.1.0.1", "10.255.1.2"), message);

	ktap_result(got && got != ~0u && rocesteer_label_sport(got) == 49152,
		    "the label of the first port of the rank's source: 0x%x %s", got, message);
	ktap_result(label_of(MAP("10.1.0.9", "10.255.1.2"), message) == ~0u &&
		    strstr(message, ": there is no peer 10.1.0.1 of the source 10.1.0.2, the rank"),
		    "no such peer%s", message);
	ktap_result(label_of(MAP("10.1.0.1", "10.255.1.1"), message) == ~0u &&
		    strstr(message, ": no path to 10.1.0.1 has the router 10.255.1.2, as rank 1"),
		    "no such path%s", message);
	read_plan(PLAN(GROUP), &groups, NULL);
	ktap_result(!reduction_labels(&groups, 0, "none", label, NULL) && !label[0],
		    "a rank without router needs no map");
	reduction_free(&groups);
}

/* The shares of a buffer, as the reducer deals it. */
static bool is_dealt(__u64 bytes, __u32 parts, __u64 message, __u32 packet)
{
	__u64 least = ~0ull, most = 0, left = bytes, share;
	__u32 i;

	for (i = parts; i; i--) {
		share = reduction_share(left, i, message, packet);
		if (share > left || share % 4)
			return false;
		left -= share;
		least = share < least ? share : least;
		most = share > most ? share : most;
	}
	return !left && (most - least <= 4 || most - least <= bytes / parts / 8);
}

static void test_share(void)
{
	__u64 bytes, message;
	__u32 parts;
	bool right = true;

	for (parts = 1; parts <= REDUCTION_GROUPS; parts++)
		for (bytes = 4; bytes < 1ull << 34; bytes = (bytes * 5 / 3 + 4) / 4 * 4)
			for (message = 256; message <= 1 << 20; message *= 4)
				right &= is_dealt(bytes, parts, message, 256);
	ktap_result(right, "parts of a buffer are whole elements, and about as large");
	ktap_result(reduction_share(1 << 20, 4, 4096 * 4, 4096) == 1 << 18 &&
		    reduction_share(1000000, 2, 10000, 1000) == 500000 &&
		    reduction_share(1001000, 2, 10000, 1000) == 500000 &&
		    reduction_share(1001000, 2, 100000, 1000) == 501000 &&
		    reduction_share(4000, 3, 100000, 1000) == 1332 &&
		    reduction_share(4, 2, 4096, 4096) == 4,
		    "parts of a buffer are whole messages, packets or elements");
}

int main(void)
{
	ktap_begin();
	snprintf(file, sizeof(file), "/tmp/test_reduction.%d", getpid());
	test_read();
	test_hash();
	test_bad();
	test_labels();
	test_share();
	unlink(file);
	return ktap_end();
}
