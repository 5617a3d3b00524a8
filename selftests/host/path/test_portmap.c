// SPDX-License-Identifier: GPL-2.0
/* The reader of port maps on good and bad files; the writer; names of leaves. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "discover/circuits.h"
#include "discover/leaf_alias.h"
#include "portmap/portmap.h"
#include "../../ktap.h"

static char dir[64];
static char file[96], lock[104];

#define START_OF(format)	"{\"format\":" #format ",\"generation\":3," \
		"\"created\":\"2026-01-02T03:04:05Z\""
#define START	START_OF(1)
#define HEAD	START ",\"device\":\"eth0\",\"hop\":2,\"peers\":["
#define PEER	"{\"address\":\"10.1.1.1\",\"source\":\"10.1.0.1\",\"local\":false," \
		"\"leaf\":\"10.255.0.2\",\"probed\":22,\"paths\":["
#define QPN(value)	"{\"address\":\"10.1.1.1\",\"source\":\"10.1.0.1\"," \
		"\"local\":false,\"leaf\":\"10.255.0.2\",\"probed\":22," \
		"\"qpn_hash\":" value ",\"paths\":["
#define LOCAL	"\"source\":\"10.1.0.1\",\"local\":true,\"probed\":0," \
		"\"paths\":["
#define ROUTER0	"{\"path\":0,\"router\":\"10.255.1.1\",\"ports\":"
#define PATH0	ROUTER0 "[49152,49160]}"
#define WEIGHT	"{\"path\":0,\"router\":\"10.255.1.1\",\"weight\":"
#define PATH1	"{\"path\":1,\"router\":\"10.255.1.2\",\"weight\":2," \
		"\"ports\":[49153]}"
#define LEAF(number, leaf, port)	"{\"path\":" #number \
		",\"router\":\"10.255.1.1\",\"leaf\":" leaf \
		",\"ports\":[" #port "]}"
#define GOOD	HEAD PEER PATH0 "," PATH1 "]}]}"
#define HEAD2	START_OF(2) ",\"device\":\"eth0\",\"peers\":["
#define PEER2(hops)	"{\"address\":\"10.1.1.1\",\"source\":\"10.1.0.1\"," \
		"\"local\":false,\"leaf\":\"10.255.0.2\"," hops "\"probed\":22,\"paths\":["
#define HOPS(hop, leaf_hop)	"\"hop\":" #hop ",\"leaf_hop\":" #leaf_hop ","
/* A path by a core of an agg */
#define CORE(number, agg, core)	"{\"path\":" #number ",\"router\":\"10.3." #agg "." #core \
		"\",\"via\":\"10.2.0." #agg "\",\"ports\":[50" #agg #core "0]}"
/* A path by a spine behind one of our leaves */
#define SPINE(number, leaf, spine)	"{\"path\":" #number ",\"router\":\"10.3.0." #spine \
		"\",\"via\":\"10.2.0." #leaf "\",\"ports\":[50" #leaf #spine "0]}"
#define PLAIN(number, router)	"{\"path\":" #number ",\"router\":\"10.3.1." #router \
		"\",\"ports\":[510" #router "0]}"
#define GOOD2	HEAD2 PEER2(HOPS(3, 5)) CORE(0, 1, 1) "," CORE(1, 2, 1) "," CORE(2, 1, 2) "]}]}"

static void put(const char *text)
{
	FILE *f = fopen(file, "w");

	fputs(text, f);
	fclose(f);
}

/* A file with this text is refused with a message that ends so. */
static void rejects(const char *text, const char *message)
{
	struct err err = {};
	struct portmap map;
	char want[256];
	int ret;

	put(text);
	ret = portmap_read(file, &map, &err);
	if (!ret)
		portmap_free(&map);
	snprintf(want, sizeof(want), "%s: %s", file, message);
	ktap_result(ret < 0 && err.exit_status == EXIT_BAD_INPUT &&
		    !strcmp(err.message, want), "refused: %s", message);
	if (!ret || strcmp(err.message, want))
		printf("# got: %s\n", ret ? err.message : "no error");
}

static void test_head(void)
{
	rejects("[]", "(root): is not an object");
	rejects("{}", "format: is missing");
	rejects("{\"format\":\"1\"}", "format: is of type string, not int");
	rejects("{\"format\":3}", "format: 3 is not known, this program knows 1..2");
	rejects("{\"format\":1,\"generation\":0}",
		"generation: 0 is not a number from 1 to 9223372036854775806");
	rejects("{\"format\":1,\"generation\":99999999999999999999}",
		"generation: 18446744073709551615 is not a number from 1 to 9223372036854775806");
	rejects("{\"format\":1,\"generation\":1,\"created\":\"now\",\"device\":\"a\",\"hop\":2}",
		"created: is not an RFC 3339 time");
	rejects("{\"format\":1,\"generation\":1,\"created\":\"2026-01-02T03:04:05Z!\","
		"\"device\":\"a\",\"hop\":2}",
		"created: is not an RFC 3339 time");
	rejects("{\"format\":1,\"generation\":1,\"created\":\"\"}",
		"created: is empty");
	rejects(START ",\"device\":\"an-interface-name\"}", "device: is longer than 15 bytes");
	rejects(START ",\"device\":\"a/b\",\"hop\":2}", "device: is not the name of a device");
	rejects(START ",\"device\":\"a\",\"hop\":-1}", "hop: -1 is not a number from 1 to 30");
	rejects(HEAD "]}", "peers: has 0 entries, not 1 to 16384");
	rejects(HEAD "7]}", "peers[0]: is not an object");
}

static void test_peer(void)
{
	rejects(HEAD "{}]}", "peers[0].address: is missing");
	rejects(HEAD "{\"address\":\"10.1.1\"}]}",
		"peers[0].address: '10.1.1' is not an address of a host");
	rejects(HEAD "{\"address\":\"224.0.0.1\"}]}",
		"peers[0].address: '224.0.0.1' is not an address of a host");
	rejects(HEAD "{\"address\":\"1.1.1.1\\u0000\"}]}",
		"peers[0].address: contains a NUL");
	rejects(HEAD "{\"address\":\"fd00::1\"," LOCAL "]}]}",
		"peers[0].source: is not of the address's family");
	rejects(HEAD "{\"address\":\"10.1.1.1\",\"source\":\"10.1.0.1\",\"local\":1}]}",
		"peers[0].local: is of type int, not boolean");
	rejects(HEAD "{\"address\":\"10.1.1.1\"," LOCAL PATH0 "]}]}",
		"peers[0].paths: must be empty: the peer is local");
	rejects(HEAD PEER "]}]}", "peers[0].paths: is empty and the peer is not local");
	rejects(HEAD PEER PATH0 "]}," PEER PATH1 "]}]}",
		"peers[1].paths[0].path: 1 is out of order, expected 0");
	rejects(HEAD PEER PATH0 "]}," PEER PATH0 "]}]}",
		"peers[1].address: 10.1.1.1 and the source are the same as those of peers[0]");
	rejects(HEAD QPN("1") PATH0 "]}]}", "peers[0].qpn_hash: is of type int, not boolean");
	rejects(HEAD "{\"address\":\"10.1.1.1\",\"qpn_hash\":true," LOCAL "]}]}",
		"peers[0].qpn_hash: is true and the peer is local");
	rejects(HEAD "{\"address\":\"10.1.1.1\",\"moved\":true," LOCAL "]}]}",
		"peers[0].moved: is true and the peer is local");
	rejects(START ",\"incomplete\":true,\"device\":\"a\",\"hop\":2}",
		"incomplete: paths are missing from this map");
}

static void test_path(void)
{
	rejects(HEAD PEER "[]]}]}", "peers[0].paths[0]: is not an object");
	rejects(HEAD PEER PATH0 "," PATH0 "]}]}",
		"peers[0].paths[1].path: 0 is out of order, expected 1");
	rejects(HEAD PEER PATH0 ",{\"path\":1,\"router\":\"10.255.1.1\",\"ports\":[49153]}]}]}",
		"peers[0].paths[1].router: is that of path 0: no leaf tells them apart");
	rejects(HEAD PEER LEAF(0, "\"10.2.0.2\"", 49152) ","
		LEAF(1, "\"10.2.0.2\"", 49153) "]}]}",
		"peers[0].paths[1].router: is that of path 0: no leaf tells them apart");
	rejects(HEAD PEER LEAF(0, "\"10.2.0.6\"", 49152) ","
		LEAF(1, "\"10.2.0.2\"", 49153) "]}]}",
		"peers[0].paths[1].router: is out of order: paths ascend by router, then by leaf");
	rejects(HEAD PEER LEAF(0, "\"10.2.0.2\"", 49152) ","
		"{\"path\":1,\"router\":\"10.255.1.1\",\"ports\":[49153]}]}]}",
		"peers[0].paths[1].router: is that of path 0: no leaf tells them apart");
	rejects(HEAD PEER LEAF(0, "\"10.2.0\"", 49152) "]}]}",
		"peers[0].paths[0].leaf: '10.2.0' is not an address of a host");
	rejects(HEAD PEER LEAF(0, "7", 49152) "]}]}",
		"peers[0].paths[0].leaf: is of type int, not string");
	rejects(HEAD PEER WEIGHT "0,\"ports\":[49152]}]}]}",
		"peers[0].paths[0].weight: 0 is not a number from 1 to 65534");
	rejects(HEAD PEER ROUTER0 "[]}]}]}",
		"peers[0].paths[0].ports: has 0 entries, not 1 to 16384");
	rejects(HEAD PEER ROUTER0 "[49152,49153,70000]}]}]}",
		"peers[0].paths[0].ports[2]: 70000 is not a port (49152..65535)");
	rejects(HEAD PEER ROUTER0 "[4791]}]}]}",
		"peers[0].paths[0].ports[0]: 4791 is not a port (49152..65535)");
	rejects(HEAD PEER ROUTER0 "[\"x\"]}]}]}", "peers[0].paths[0].ports[0]: is not a number");
	rejects(HEAD PEER PATH0 ",{\"path\":1,\"router\":\"10.255.1.2\",\"ports\":[49160]}]}]}",
		"peers[0].paths[1].ports[0]: port 49160 is listed twice for this peer");
}

static void test_hops(void)
{
	struct portmap map = {};
	struct err err = {};
	int ret;

	put(GOOD);
	ret = portmap_read(file, &map, &err);
	ktap_result(!ret && map.peers[0].hop == 2 && map.peers[0].leaf_hop == 3,
		    "the hop of a file of format 1 is that of its peers, whose leaf is next");
	portmap_free(&map);
	put(HEAD2 PEER2(HOPS(30, 60)) PATH0 "]},{\"address\":\"10.1.0.2\"," LOCAL "]}]}");
	ret = portmap_read(file, &map, &err);
	ktap_result(!ret && map.peers[0].hop == 30 && map.peers[0].leaf_hop == 60 &&
		    !map.peers[1].hop, "each peer has its hops in format 2, a local one has none");
	portmap_free(&map);
	rejects(START ",\"device\":\"eth0\",\"peers\":[]}", "hop: is missing");
	rejects(HEAD2 PEER2("") PATH0 "]}]}", "peers[0].hop: is missing");
	rejects(HEAD2 PEER2(HOPS(0, 1)) PATH0 "]}]}",
		"peers[0].hop: 0 is not a number from 1 to 30");
	rejects(HEAD2 PEER2(HOPS(31, 32)) PATH0 "]}]}",
		"peers[0].hop: 31 is not a number from 1 to 30");
	rejects(HEAD2 PEER2("\"hop\":3,") PATH0 "]}]}", "peers[0].leaf_hop: is missing");
	rejects(HEAD2 PEER2(HOPS(3, 3)) PATH0 "]}]}",
		"peers[0].leaf_hop: 3 is not a number from 4 to 60");
	rejects(HEAD2 PEER2(HOPS(3, 61)) PATH0 "]}]}",
		"peers[0].leaf_hop: 61 is not a number from 4 to 60");
}

#define MODEL(columns, steps, routers)	HEAD PEER PATH0 "]}],\"models\":[{" \
	"\"source\":\"10.1.0.1\",\"base\":49152,\"columns\":[" columns "],\"steps\":[" steps "]," \
	"\"routers\":[" routers "]}]}"
#define COLUMNS	"1,2,0,0,0,0,0,0,0,0,0,0,0,3"
#define QPN_COLUMNS	"1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3"
#define STEPS	"1,2"
#define ROUTERS	"\"10.255.1.1\",\"10.255.1.2\",null,\"10.255.1.4\""

static void test_models(void)
{
	struct portmap map;
	struct err err = {};

	put(MODEL(COLUMNS, STEPS, ROUTERS));
	ktap_result(!portmap_read(file, &map, &err) && map.nr_models == 1 &&
		    map.models[0].hash.bits == 2 && map.models[0].hash.column[13] == 3 &&
		    addr_is_none(map.models[0].hash.router[2].addr), "a model is read");
	portmap_free(&map);
	put(MODEL(COLUMNS "],\"qpn_columns\":[" QPN_COLUMNS, STEPS, ROUTERS));
	ktap_result(!portmap_read(file, &map, &err) &&
		    hash_model_qpn(&map.models[0].hash, 0x800001) == 2,
		    "a model with queue pairs is read");
	portmap_free(&map);
	rejects(MODEL(COLUMNS "],\"qpn_columns\":[1", STEPS, ROUTERS),
		"models[0].qpn_columns: is not an array of 24");
	rejects(MODEL("1,2", STEPS, ROUTERS),
		"models[0].columns: is not an array of 14");
	rejects(MODEL("1,2,4,0,0,0,0,0,0,0,0,0,0,3", STEPS, ROUTERS),
		"models[0].columns[2]: is not a number from 0 to 3");
	rejects(MODEL(COLUMNS, "1,1", ROUTERS), "models[0].steps: do not agree with columns");
	rejects(MODEL(COLUMNS, STEPS, ROUTERS ",\"10.255.1.5\""),
		"models[0].routers: are 5, which is no power of two");
	rejects(MODEL(COLUMNS, STEPS, "null,null,\"10.255.1.1\",\"10.255.1.1\""),
		"models[0].routers[3]: 10.255.1.1 is there twice");
	rejects(MODEL(COLUMNS, STEPS, "null,null,null,7"),
		"models[0].routers[3]: is not an address");
}

#define PAIRS	"\"10.255.1.1\",\"10.255.1.1\",null,\"10.255.1.2\""
#define VIAS(vias)	MODEL(COLUMNS, STEPS, PAIRS "],\"vias\":[" vias)
#define LEAF1	"\"10.255.0.1\""
#define LEAF2	"\"10.255.0.2\""

static void test_json(void)
{
	char deep[64], *many;
	size_t i, len;

	rejects("", "is not JSON: it ends too early");
	rejects(HEAD, "is not JSON: it ends too early");
	rejects("{\n\"format\":1,\n}", "line 3: is not JSON: unexpected character");
	rejects(GOOD " x", "line 1: is not JSON: unexpected character");
	memset(deep, '[', 40);
	deep[40] = '\0';
	rejects(deep, "line 1: is not JSON: nesting too deep");

	many = malloc(65 * 64 + sizeof(HEAD PEER) + 8);
	len = sprintf(many, HEAD PEER);
	for (i = 0; i < 65; i++)
		len += sprintf(many + len, "%s{}", i ? "," : "");
	sprintf(many + len, "]}]}");
	rejects(many, "peers[0].paths: has 65 entries, not 0 to 64");
	free(many);
}

static void test_files(void)
{
	struct err err = {};
	struct portmap map;
	char want[192];
	int ret;

	unlink(file);
	ret = portmap_read(file, &map, &err);
	snprintf(want, sizeof(want), "%s: No such file or directory", file);
	ktap_result(ret && err.exit_status == EXIT_BAD_INPUT &&
		    !strcmp(err.message, want), "a missing file is named");
	ret = portmap_read(dir, &map, &err);
	snprintf(want, sizeof(want), "%s: Is a directory", dir);
	ktap_result(ret && !strcmp(err.message, want), "a directory in place of a file is named");
}

static bool same(const struct portmap *a, const struct portmap *b)
{
	struct json_object *left = portmap_to_json(a);
	struct json_object *right = portmap_to_json(b);
	bool equal = json_object_equal(left, right);

	json_object_put(left);
	json_object_put(right);
	return equal;
}

static bool is_own(const char *device, const __u8 source[16])
{
	(void)device;
	(void)source;
	return true;
}

static void test_round_trip(void)
{
	struct portmap map, again;
	struct err err = {};
	int ret;

	put(GOOD);
	ret = portmap_read(file, &map, &err);
	ktap_result(!ret && map.generation == 3 && map.nr_peers == 1 &&
		    map.peers[0].nr_paths == 2 &&
		    map.peers[0].paths[0].nr_ports == 2 &&
		    map.peers[0].paths[0].ports[1] == 49160 &&
		    map.peers[0].paths[0].weight == 1 &&
		    map.peers[0].paths[1].weight == 2 && !map.peers[0].qpn_hash,
		    "a good file is read");
	map.peers[0].qpn_hash = true;
	ret = portmap_write(file, &map, is_own, &err);
	ktap_result(!ret && map.generation == 4, "writing counts the generation");
	ret = portmap_read(file, &again, &err);
	ktap_result(!ret && same(&map, &again) && again.peers[0].qpn_hash,
		    "a written map is read again");
	portmap_free(&again);
	unlink(file);
	ret = portmap_write(file, &map, is_own, &err);
	ktap_result(!ret && map.generation == 1, "a new file is generation 1");
	put("precious");
	ret = portmap_write(file, &map, is_own, &err);
	ktap_result(ret && err.hint[0], "a file that is no port map is kept");
	portmap_free(&map);
	unlink(file);
	snprintf(lock, sizeof(lock), "%s.lock", file);
	unlink(lock);
	ktap_result(!rmdir(dir), "no temporary file is left");
}

/* Paths by one router that enter the leaf by two interfaces, and one that is not split. */
static void test_split(void)
{
	const struct hash_router low = { .addr = { 1 } }, high = { .addr = { 2 } };
	struct portmap map, old;
	struct portmap_peer *peer;
	struct err err = {};
	int ret;

	put(HEAD QPN("true") LEAF(0, "\"10.2.0.2\"", 49152) ","
	    LEAF(1, "\"10.2.0.6\"", 49153) "]}]}");
	ret = portmap_read(file, &map, &err);
	ktap_result(!ret && map.peers[0].nr_paths == 2 &&
		    map.peers[0].paths[0].leaf[15] == 2 &&
		    map.peers[0].paths[1].leaf[15] == 6,
		    "two paths by one router have a leaf each");
	peer = map.peers;
	portmap_peer_free(peer);
	peer->addr[15]++;	/* another one */
	peer->qpn_hash = false;
	ktap_result(portmap_peer_add_port(peer, &high, low.addr, 50000) == 1 &&
		    portmap_peer_add_port(peer, &low, high.addr, 50001) == 1 &&
		    portmap_peer_add_port(peer, &low, low.addr, 50002) == 1 &&
		    portmap_peer_add_port(peer, &low, NULL, 50003) == 1 &&
		    portmap_peer_add_port(peer, &low, high.addr, 50004) == 0 &&
		    peer->nr_paths == 4, "a path is a router and a leaf");
	portmap_sort(&map);
	ktap_result(peer->paths[0].ports[0] == 50003 &&
		    peer->paths[1].ports[0] == 50002 &&
		    peer->paths[2].ports[0] == 50001 &&
		    peer->paths[2].ports[1] == 50004 &&
		    peer->paths[3].ports[0] == 50000,
		    "paths are sorted by router, then by leaf");
	/* Without the one that has no leaf. */
	free(peer->paths[0].ports);
	memmove(peer->paths, peer->paths + 1, 3 * sizeof(*peer->paths));
	peer->nr_paths--;
	ret = portmap_write(file, &map, is_own, &err);
	ktap_result(!ret && map.nr_peers == 2 && map.peers[1].nr_paths == 2,
		    "peers of a file are kept beside others");
	ktap_result(!map.peers[0].qpn_hash && map.peers[1].qpn_hash,
		    "qpn_hash of a file's peers is kept");
	ret = portmap_read(file, &old, &err);
	ktap_result(!ret && same(&map, &old), "a map with peers of a file is read again");
	portmap_free(&old);
	portmap_free(&map);
}

/*
 * Do paths get this order, the last octets of router and agg of each? Are they written and read
 * again so?
 */
static bool in_order(const char *text, const char *want)
{
	char got[128] = "";
	struct portmap map, again;
	struct err err = {};
	size_t len = 0;
	unsigned int p;
	bool equal;

	put(text);
	if (portmap_read(file, &map, &err)) {
		printf("# %s\n", err.message);
		return false;
	}
	for (p = 0; p < map.peers[0].nr_paths; p++)
		len += sprintf(got + len, "%s%u/%u", p ? " " : "",
			       map.peers[0].paths[p].via[15], map.peers[0].paths[p].router[15]);
	unlink(file);
	equal = !portmap_write(file, &map, is_own, &err) && !portmap_read(file, &again, &err);
	if (equal) {
		equal = same(&map, &again);
		portmap_free(&again);
	}
	portmap_free(&map);
	printf("# %s%s\n", got, equal ? "" : ", not when read again");
	return equal && !strcmp(got, want);
}

/* Routers of one agg follow each other as addresses, paths do not. */
static void test_tiers(void)
{
	ktap_result(in_order(HEAD2 PEER2(HOPS(3, 5)) CORE(0, 2, 3) "," CORE(1, 2, 2) ","
			     CORE(2, 1, 1) "," CORE(3, 1, 3) "," CORE(4, 2, 1) ","
			     CORE(5, 1, 2) "]}]}", "1/1 2/1 1/2 2/2 1/3 2/3"),
		    "path a + A * c goes by core c of agg a");
	ktap_result(in_order(HEAD2 PEER2(HOPS(3, 5)) CORE(0, 1, 1) "," CORE(1, 2, 2) ","
			     CORE(2, 1, 2) "," CORE(3, 2, 3) "," CORE(4, 1, 3) "]}]}",
			     "1/1 2/2 1/2 2/3 1/3"),
		    "where a core is missing, aggs take turns as long as they have cores");
	ktap_result(in_order(HEAD2 PEER2(HOPS(3, 5)) PLAIN(0, 1) "," PLAIN(1, 5) ","
			     CORE(2, 2, 1) "]}]}", "0/1 2/1 0/5"),
		    "paths whose agg is not known take turns with those of the others");
	rejects(HEAD2 PEER2(HOPS(3, 5)) CORE(0, 1, 1) "," CORE(1, 2, 1) "," PLAIN(2, 1) "]}]}",
		"peers[0].paths[2].router: is that of path 0: no leaf tells them apart");
	rejects(HEAD2 PEER2(HOPS(3, 5)) "{\"path\":0,\"router\":\"10.3.0.1\",\"via\":\"10.2\"}]}]}",
		"peers[0].paths[0].via: '10.2' is not an address of a host");
}

/* Behind a bond a spine is behind each of our leaves. */
static void test_bond(void)
{
	const struct hash_router spine = { .addr = { 3 }, .via = { 1 } };
	struct hash_router other = spine;
	struct portmap_peer peer = {};

	ktap_result(in_order(HEAD2 PEER2(HOPS(2, 3)) SPINE(0, 2, 2) "," SPINE(1, 1, 1) ","
			     SPINE(2, 2, 1) "," SPINE(3, 1, 2) "]}]}", "1/1 2/1 1/2 2/2"),
		    "path a + A * c goes by spine c behind leaf a");
	rejects(HEAD2 PEER2(HOPS(2, 3)) SPINE(0, 1, 1) "," SPINE(1, 2, 1) "," SPINE(2, 1, 1) "]}]}",
		"peers[0].paths[2].router: is that of path 0: no leaf tells them apart");
	other.via[0]++;
	ktap_result(portmap_peer_add_port(&peer, &spine, NULL, 50000) == 1 &&
		    portmap_peer_add_port(&peer, &other, NULL, 50001) == 1 &&
		    portmap_peer_add_port(&peer, &spine, NULL, 50002) == 0 &&
		    portmap_peer_find_path(&peer, spine.addr, other.via, NULL) == 1 &&
		    portmap_peer_find_path(&peer, spine.addr, NULL, NULL) == 0,
		    "two paths by one router have a router before each");
	portmap_peer_free(&peer);
	ktap_result(in_order(VIAS(LEAF1 "," LEAF2 ",null," LEAF2), "0/1"),
		    "a model of pairs of routers is read and written");
	rejects(VIAS(LEAF1 "," LEAF1 ",null," LEAF2),
		"models[0].routers[1]: 10.255.1.1 is there twice");
	rejects(VIAS(LEAF1), "models[0].vias: has 1 entries, not 4 to 4");
	rejects(VIAS(LEAF1 ",2,null," LEAF2), "models[0].vias[1]: is not an address");
}

/* Paths to a peer, of three ports each. */
static void make_paths(struct portmap_peer *peer, unsigned int nr)
{
	struct hash_router router = {};
	unsigned int i;

	*peer = (struct portmap_peer) {};
	for (i = 0; i < 3 * nr; i++) {
		router.addr[15] = i % nr + 1;
		portmap_peer_add_port(peer, &router, NULL, 50000 + i);
	}
}

/* Each router has a word: for each of its ports a letter, the address that answers. */
static bool tells_apart(const char *const answers[], unsigned int nr, unsigned int paths)
{
	struct portmap_peer peer, apart = {};
	struct circuits circuits = {};
	__u8 leaf[16] = {};
	unsigned int i;
	bool found;

	make_paths(&peer, nr);
	for (i = 0; i < 3 * nr; i++) {
		leaf[15] = answers[i % nr][i / nr];
		circuits_saw(&circuits, &peer, 50000 + i, leaf);
	}
	found = circuits_found(&circuits, nr);
	if (found)
		found = circuits_paths(&circuits, nr) == paths &&
			!circuits_split(&circuits, &peer, &apart) &&
			apart.nr_paths == paths;
	portmap_peer_free(&apart);
	portmap_peer_free(&peer);
	free(circuits.seen);
	return found;
}

#define TELLS(paths, ...) \
	tells_apart((const char *const []) { __VA_ARGS__ }, \
		    sizeof((const char *[]) { __VA_ARGS__ }) / sizeof(char *), paths)

static void test_circuits(void)
{
	struct portmap_peer peer;
	struct circuits c = {};
	unsigned int i, sum = 0;

	ktap_result(TELLS(4, "aba", "cdd"), "two links from each of two spines tell links apart");
	ktap_result(TELLS(6, "aba", "bab", "ccd"), "a spine with two addresses tells links apart");
	ktap_result(TELLS(3, "aaa", "bcb"), "one of two spines with one link tells links apart");
	ktap_result(!TELLS(0, "aaa", "bbb"), "one link from each spine tells no links apart");
	ktap_result(!TELLS(0, "aaa", "aaa"), "a leaf with one address tells no links apart");
	ktap_result(!TELLS(0, "aba", "bba"),
		    "a leaf that answers by any interface tells no links apart");
	ktap_result(!TELLS(0, "aba", "bcc", "ccd"),
		    "a leaf that answers by any of three interfaces tells no links apart");
	ktap_result(!TELLS(0, "aba"), "one spine tells no links apart");
	make_paths(&peer, 2);
	for (i = 0; i < 4; i++)
		sum += circuits_next(&c, &peer, 2);
	ktap_result(sum == 50000 * 4 + 6 && !circuits_has_next(&c, &peer, 2) &&
		    circuits_next(&c, &peer, 3) == 50004 &&
		    circuits_next(&c, &peer, 9) == 50005 &&
		    !circuits_next(&c, &peer, 9), "each port is asked about once");
	portmap_peer_free(&peer);
}

static void test_fuzz(const char *good)
{
	size_t len = strlen(good);
	char text[len + 1];
	struct portmap map;
	unsigned int seed = 1, i, accepted = 0;
	bool sane = true;

	for (i = 0; i < 20000; i++) {
		struct json_object *root;
		struct err err = {};
		unsigned int n;

		memcpy(text, good, len + 1);
		for (n = 1 + rand_r(&seed) % 3; n; n--)
			text[rand_r(&seed) % len] =
				"\n 0123456789.:,[]{}\"-a"[rand_r(&seed) % 22];
		root = json_tokener_parse(text);
		if (!root)
			continue;
		if (!portmap_from_json(root, "f", &map, &err)) {
			accepted++;
			portmap_free(&map);
		} else {
			sane &= err.message[0] && err.code;
		}
		json_object_put(root);
	}
	ktap_result(sane, "20000 damaged files: accepted or refused in words");
	printf("# %u accepted\n", accepted);
}

static void test_leaves(void)
{
	struct leaf_sighting seen[] = {
		{ .addr = { 5 }, .peer = 0 }, { .addr = { 3 }, .peer = 0 },
		{ .addr = { 5 }, .peer = 1 }, { .addr = { 9 }, .peer = 1 },
		{ .addr = { 9 }, .peer = 2 }, { .addr = { 4 }, .peer = 3 },
	};
	__u8 leaf[5][16] = {};

	leaf_name(seen, 6, leaf[0], 5);
	ktap_result(leaf[0][0] == 3 && leaf[1][0] == 3 && leaf[2][0] == 3 &&
		    leaf[3][0] == 4 && leaf[4][0] == 0,
		    "peers that share a router have one leaf");
}

int main(void)
{
	snprintf(dir, sizeof(dir), "%s/rocesteer-XXXXXX", getenv("TMPDIR") ?: "/tmp");
	if (!mkdtemp(dir))
		return 1;
	snprintf(file, sizeof(file), "%s/ports.json", dir);
	ktap_begin();
	test_head();
	test_peer();
	test_path();
	test_hops();
	test_models();
	test_json();
	test_files();
	test_split();
	test_tiers();
	test_bond();
	test_circuits();
	test_round_trip();
	test_fuzz(GOOD);
	test_fuzz(GOOD2);
	test_leaves();
	return ktap_end();
}
