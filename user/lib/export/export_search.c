// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of ports that load the paths of many peers evenly. Ports that take the same path to
 * every peer are one class. Each port in turn goes where it costs least, which is exact where
 * another peer only renames the paths, as linear hashes do. Where that is not exact, ports are
 * exchanged, within a number of steps, so that the time is bounded and the result always the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export_priv.h"

#define GREEDY_STEPS	100000000ull	/* looks at a class and a peer */
#define EXCHANGE_STEPS	240000000ull
#define NONE		0xffffffffu

/**
 * struct search - a list in the making
 * @e: the peers
 * @length: of the list
 * @first: by class, the first port of @e in it
 * @next: by port of @e, the next one of its class, or NONE
 * @path: by peer and class
 * @nr: classes that are used
 * @nr_paths: of all peers together
 * @load: by peer and path
 * @cost: by peer and path: of one more
 * @sum: by class: of all peers
 * @share: by peer and path: part of the load that is its
 * @pick: classes of the list
 * @best: those of the best list so far
 * @balance: its balance
 * @ideal: the best that a list of this length could be
 * @steps: that are left
 * @random: state
 */
struct search {
	const struct export *e;
	unsigned int length;
	unsigned int *first;
	unsigned int *next;
	__u8 *path;
	unsigned int nr;
	unsigned long long nr_paths;
	__u16 (*load)[ROCESTEER_MAX_PATHS];
	double (*cost)[ROCESTEER_MAX_PATHS];
	double *sum;
	double (*share)[ROCESTEER_MAX_PATHS];
	unsigned int pick[EXPORT_MAX_LENGTH];
	unsigned int best[EXPORT_MAX_LENGTH];
	struct export_balance balance;
	struct export_balance ideal;
	unsigned long long steps;
	__u32 random;
};

static bool spend(struct search *s, unsigned long long steps)
{
	s->steps = steps < s->steps ? s->steps - steps : 0;
	return s->steps;
}

/* Paths to a peer, by class. */
static const __u8 *paths_to(const struct search *s, size_t j)
{
	return s->path + j * s->nr;
}

static int compare_ports(const void *a, const void *b, void *arg)
{
	const struct export *e = arg;
	unsigned int i = *(const unsigned int *)a, k = *(const unsigned int *)b;
	int ret = memcmp(e->path + i * e->nr_peers, e->path + k * e->nr_peers, e->nr_peers);

	return ret ?: i < k ? -1 : 1;
}

static int compare_numbers(const void *a, const void *b)
{
	unsigned int i = *(const unsigned int *)a, k = *(const unsigned int *)b;

	return i < k ? -1 : i > k;
}

/* Classes in the order of their first ports. */
static int make_classes(struct search *s)
{
	const struct export *e = s->e;
	unsigned int *order = calloc(e->nr_ports, sizeof(*order)), i;
	unsigned long long most;
	size_t j;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < e->nr_ports; i++)
		order[i] = i;
	qsort_r(order, e->nr_ports, sizeof(*order), compare_ports, (void *)e);
	for (i = 0; i < e->nr_ports; i++) {
		s->next[order[i]] = NONE;
		if (i && !memcmp(e->path + order[i] * e->nr_peers,
				 e->path + order[i - 1] * e->nr_peers, e->nr_peers))
			s->next[order[i - 1]] = order[i];
		else
			s->first[s->nr++] = order[i];
	}
	free(order);
	qsort(s->first, s->nr, sizeof(*s->first), compare_numbers);
	most = GREEDY_STEPS / s->length / e->nr_peers;
	if (most < s->length)
		most = s->length;
	if (s->nr > most)
		s->nr = most;
	for (j = 0; j < e->nr_peers; j++)
		for (i = 0; i < s->nr; i++)
			s->path[j * s->nr + i] = e->path[s->first[i] * e->nr_peers + j];
	return 0;
}

/* The load of the fullest path when one peer's are as even as this length lets them be. */
static unsigned int least_fullest(const struct search *s, const struct portmap_peer *peer)
{
	__u16 load[ROCESTEER_MAX_PATHS] = {};
	unsigned int i, p, to;

	for (i = 0; i < s->length; i++) {
		for (to = 0, p = 1; p < peer->nr_paths; p++)
			if ((load[p] + 1) * peer->paths[to].weight <
			    (load[to] + 1) * peer->paths[p].weight)
				to = p;
		load[to]++;
	}
	return export_fullest(peer, load, s->length);
}

static void set_shares(struct search *s)
{
	size_t j;

	for (j = 0; j < s->e->nr_peers; j++) {
		const struct portmap_peer *peer = s->e->peers[j];
		unsigned int p, sum = 0, least = least_fullest(s, peer);

		for (p = 0; p < peer->nr_paths; p++)
			sum += peer->paths[p].weight;
		s->nr_paths += peer->nr_paths;
		for (p = 0; p < peer->nr_paths; p++)
			s->share[j][p] = (double)peer->paths[p].weight / sum;
		s->ideal.sum += least;
		if (least > s->ideal.worst)
			s->ideal.worst = least;
	}
}

static int search_open(struct search *s, const struct export *e, unsigned int length)
{
	memset(s, 0, sizeof(*s));
	s->e = e;
	s->length = length;
	s->balance.worst = ~0u;
	s->random = 1;
	s->first = calloc(e->nr_ports, sizeof(*s->first));
	s->next = calloc(e->nr_ports, sizeof(*s->next));
	s->path = malloc(e->nr_ports * e->nr_peers);
	s->load = calloc(e->nr_peers, sizeof(*s->load));
	s->cost = calloc(e->nr_peers, sizeof(*s->cost));
	s->share = calloc(e->nr_peers, sizeof(*s->share));
	s->sum = calloc(e->nr_ports < length ? length : e->nr_ports, sizeof(*s->sum));
	if (!s->first || !s->next || !s->path || !s->load || !s->cost || !s->share || !s->sum)
		return -ENOMEM;
	set_shares(s);
	return make_classes(s);
}

static void search_close(struct search *s)
{
	free(s->first);
	free(s->next);
	free(s->path);
	free(s->load);
	free(s->cost);
	free(s->share);
	free(s->sum);
}

static void add(struct search *s, unsigned int class, int by)
{
	size_t j;

	for (j = 0; j < s->e->nr_peers; j++)
		s->load[j][paths_to(s, j)[class]] += by;
}

static void clear_loads(struct search *s)
{
	memset(s->load, 0, s->e->nr_peers * sizeof(*s->load));
}

static void load_list(struct search *s, const unsigned int *list)
{
	unsigned int i;

	clear_loads(s);
	for (i = 0; i < s->length; i++)
		add(s, list[i], 1);
}

static struct export_balance balance_of(const struct search *s)
{
	struct export_balance balance = {};
	size_t j;

	for (j = 0; j < s->e->nr_peers; j++) {
		unsigned int most = export_fullest(s->e->peers[j], s->load[j], s->length);

		balance.sum += most;
		if (most > balance.worst)
			balance.worst = most;
	}
	return balance;
}

/* Keep the present list if it is the best. Return: true if no list can be better. */
static bool keep_best(struct search *s)
{
	struct export_balance balance = balance_of(s);

	if (export_is_better(&balance, &s->balance)) {
		s->balance = balance;
		memcpy(s->best, s->pick, sizeof(s->best));
	}
	return !export_is_better(&s->ideal, &s->balance);
}

/* Fullest paths cost by far the most: the eighth power of the load, in units of its share. */
static double cost_of(double load, double share)
{
	double square = load * load / share / share;

	return share * square * square * square * square;
}

static void set_costs(struct search *s)
{
	unsigned int p;
	size_t j;

	for (j = 0; j < s->e->nr_peers; j++)
		for (p = 0; p < s->e->peers[j]->nr_paths; p++) {
			unsigned int load = s->load[j][p];
			double share = s->share[j][p];

			s->cost[j][p] = cost_of(load + 1, share) - cost_of(load, share);
		}
}

/* Return: the place in @classes, of @n, of the one that costs least; NULL: among all. */
static unsigned int cheapest(struct search *s, const unsigned int *classes, unsigned int n)
{
	unsigned int i, at = 0;
	size_t j;

	set_costs(s);
	memset(s->sum, 0, n * sizeof(*s->sum));
	for (j = 0; j < s->e->nr_peers; j++) {
		const __u8 *path = paths_to(s, j);
		const double *cost = s->cost[j];

		for (i = 0; i < n; i++)
			s->sum[i] += cost[path[classes ? classes[i] : i]];
	}
	for (i = 1; i < n; i++)
		if (s->sum[i] < s->sum[at])
			at = i;
	spend(s, n * s->e->nr_peers + s->nr_paths);
	return at;
}

static bool greedy(struct search *s)
{
	unsigned int i;

	clear_loads(s);
	for (i = 0; i < s->length; i++) {
		s->pick[i] = cheapest(s, NULL, s->nr);
		add(s, s->pick[i], 1);
	}
	return keep_best(s);
}

/* Each port is taken out, and the best one put in, until no port changes. */
static void exchange_all(struct search *s)
{
	unsigned int i, at, same = 0;

	for (i = 0; same < s->length && s->steps; i = (i + 1) % s->length) {
		add(s, s->pick[i], -1);
		at = cheapest(s, NULL, s->nr);
		same = at == s->pick[i] ? same + 1 : 0;
		s->pick[i] = at;
		add(s, at, 1);
	}
}

static unsigned int random_below(struct search *s, unsigned int n)
{
	return xorshift32(&s->random) % n;
}

/* A few other ports, at random. */
static void disturb(struct search *s)
{
	unsigned int n = 1 + random_below(s, 1 + s->length / 4), i;

	memcpy(s->pick, s->best, sizeof(s->pick));
	for (i = 0; i < n; i++)
		s->pick[random_below(s, s->length)] = random_below(s, s->nr);
	load_list(s, s->pick);
}

static void exchange(struct search *s)
{
	s->steps = EXCHANGE_STEPS;
	memcpy(s->pick, s->best, sizeof(s->pick));
	load_list(s, s->pick);
	for (;;) {
		exchange_all(s);
		if (keep_best(s) || !s->steps)
			return;
		disturb(s);
		/* Short lists cost few steps, but these as well. */
		spend(s, s->length * s->e->nr_peers + s->nr_paths);
	}
}

/* Ports of the classes, the beginning as even as it can be; a class's ports in turn. */
static void write_ports(struct search *s, __u16 *ports)
{
	unsigned int *turn = s->pick;	/* of each class of the list, by its place */
	unsigned int n = s->length, i, at, k, class;

	clear_loads(s);
	memset(s->pick, 0xff, sizeof(s->pick));
	for (i = 0; i < s->length; i++) {
		at = cheapest(s, s->best, n);
		class = s->best[at];
		add(s, class, 1);
		memmove(s->best + at, s->best + at + 1, (--n - at) * sizeof(*s->best));
		/* The rest of the list: the removed ports, the last one first. */
		for (k = n + 1; k < s->length && s->best[k] != class; k++)
			;
		turn[n] = k < s->length ? s->next[turn[k]] : s->first[class];
		if (turn[n] == NONE)
			turn[n] = s->first[class];
		s->best[n] = class;
		ports[i] = s->e->ports[turn[n]];
	}
}

int export_search(const struct export *e, unsigned int length, __u16 *ports)
{
	struct search s;
	int ret = search_open(&s, e, length);

	if (!ret) {
		if (!greedy(&s))
			exchange(&s);
		write_ports(&s, ports);
	}
	search_close(&s);
	return ret;
}
