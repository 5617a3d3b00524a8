// SPDX-License-Identifier: GPL-2.0
/* rocesteer top: traffic of the paths, again and again. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "groups/groups.h"
#include "objects.h"

#define MSEC	1000000ull
#define SEC	1000000000ull

enum { INTERVAL, COUNT };

static const struct cli_option options[] = {
	[INTERVAL] = { "interval", "MS", "time between samples (default: 1000)" },
	[COUNT] = { "count", "N", "end after N samples (default: never)" },
	{}
};

static const struct out_column columns[] = {
	{ "job", "JOB" },
	{ "device", "DEVICE" },
	{ "leaf", "LEAF" },
	{ "steering", "STEERING" },
	{ "imbalance", "IMBALANCE" },
	{ "path", "PATH" },
	{ "via", "VIA" },
	{ "router", "ROUTER" },
	{ "path_leaf", "ENTRY" },
	{ "state", "STATE" },
	{ "flows", "FLOWS" },
	{ "pieces", "PIECES" },
	{ "packets_per_s", "PACKETS/S" },
	{ "bytes_per_s", "BYTES/S" },
	{ "rounds_per_s", "ROUNDS/S" },
	{}
};

static const struct out_view views[] = {
	{ .rows = "groups.paths", .columns = columns,
	  .empty = "no job is loaded" },
	{}
};

static const char *state_of(const struct rates_group *group, __u32 p)
{
	if (!group->served)	/* the device is gone, or came without them */
		return "unserved";
	if (!group->carrier)
		return "no-carrier";
	if (group->group.down >> p & 1)
		return "down";
	if (!(group->ports >> p & 1))
		return "no-port";
	return group->path[p].avoided ? "suspected" : "up";
}

static __u64 per_second(__u64 count, __u64 elapsed)
{
	return (__uint128_t)count * SEC / elapsed;
}

/* A number of at least three digits with its unit, in a fixed width. */
static const char *readable(__u64 value, char text[32])
{
	static const char units[] = " kMGTPE";
	unsigned int i;

	for (i = 0; value >= 10000; i++)
		value = (value + 500) / 1000;
	sprintf(text, "%5llu %cB", value, units[i]);
	return text;
}

/* A terminal is for people. */
static void put_bytes(struct json_object *obj, __u64 bytes, bool screen)
{
	char text[32];

	if (screen)
		out_string(obj, "bytes_per_s", readable(bytes, text));
	else
		out_uint(obj, "bytes_per_s", bytes);
}

static void put_path(struct json_object *obj, const struct rates_group *group,
		     __u32 p, __u64 elapsed, bool screen)
{
	const struct rates_path *path = &group->path[p];

	out_uint(obj, "path", p);
	if (!addr_is_none(group->group.via[p]))
		out_addr(obj, "via", group->group.via[p]);
	out_addr(obj, "router", group->group.router[p]);
	if (!addr_is_none(group->group.leaf[p]))
		out_addr(obj, "path_leaf", group->group.leaf[p]);
	out_string(obj, "state", state_of(group, p));
	out_uint(obj, "flows", group->group.flows[p]);
	out_uint(obj, "pieces", path->pieces);
	out_uint(obj, "packets_per_s", per_second(path->packets, elapsed));
	put_bytes(obj, per_second(path->bytes, elapsed), screen);
	out_uint(obj, "rounds_per_s", per_second(path->rounds, elapsed));
}

/* Traffic of observed flows without a known path. */
static void put_unknown(struct json_object *obj, const struct rates_path *path,
			__u64 elapsed, bool screen)
{
	out_string(obj, "state", "unknown");
	out_uint(obj, "flows", path->pieces);
	out_uint(obj, "packets_per_s", per_second(path->packets, elapsed));
	put_bytes(obj, per_second(path->bytes, elapsed), screen);
	out_uint(obj, "rounds_per_s", per_second(path->rounds, elapsed));
}

static void put_group(struct json_object *obj, const struct rates_group *group,
		      __u64 elapsed, bool screen)
{
	__u64 imbalance = rates_imbalance(group);
	struct json_object *paths;
	__u32 p;

	out_uint(obj, "job", group->key.job);
	out_device(obj, "device", group->key.ifindex);
	out_addr(obj, "leaf", group->key.leaf);
	if (group->group.observe)
		out_string(obj, "steering", "off");
	if (imbalance)
		out_decimal(obj, "imbalance", imbalance, 2);
	paths = out_array(obj, "paths");
	for (p = 0; p < group->group.nr_paths; p++)
		put_path(out_append_object(paths), group, p, elapsed, screen);
	if (group->unknown.pieces || group->unknown.packets)
		put_unknown(out_append_object(paths), &group->unknown, elapsed, screen);
}

/* The worst first; then in an order that stays. */
static int compare(const void *a, const void *b)
{
	const struct rates_group *left = *(struct rates_group *const *)a;
	const struct rates_group *right = *(struct rates_group *const *)b;
	__u64 x = rates_imbalance(left), y = rates_imbalance(right);

	if (x != y)
		return x < y ? 1 : -1;
	if (left->key.job != right->key.job)
		return left->key.job < right->key.job ? -1 : 1;
	return memcmp(&left->key, &right->key, sizeof(left->key));
}

static struct json_object *to_json(const struct rates *rates, bool screen)
{
	struct json_object *root = out_root(), *groups;
	struct rates_group *order[rates->groups.nr + 1];
	size_t i;

	out_uint(root, "interval_ms", rates->elapsed / MSEC);
	groups = out_array(root, "groups");
	if (rates->groups.nr)
		memcpy(order, rates->groups.item, rates->groups.nr * sizeof(*order));
	qsort(order, rates->groups.nr, sizeof(*order), compare);
	for (i = 0; i < rates->groups.nr; i++)
		put_group(out_append_object(groups), order[i], rates->elapsed, screen);
	return root;
}

/* Overwrite the screen, so that it does not flicker. */
static void fill_screen(char *text)
{
	struct winsize size = {};
	int room, rows = 0;
	char *line, *rest;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 3 || !size.ws_col)
		size = (struct winsize) { .ws_row = 24, .ws_col = 80 };
	room = size.ws_row - 1;
	for (line = text; (line = strchr(line, '\n')); line++)
		rows++;
	fputs("\033[H", stdout);
	for (line = strtok_r(text, "\n", &rest); line && (room > 1 || rows == 1);
	     line = strtok_r(NULL, "\n", &rest), room--, rows--)
		printf("%.*s%s\033[K\n", (int)table_fit(line, size.ws_col), line,
		       strchr(line, '\033') ? "\033[0m" : "");	/* maybe cut */
	if (rows)
		printf("%d more rows\033[K\n", rows);
	fputs("\033[J", stdout);
}

static int show_screen(const struct rates *rates)
{
	struct json_object *root = to_json(rates, true);
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (to) {
		table_print(to, root, views, true);
		fclose(to);
		fill_screen(text);
	}
	free(text);
	json_object_put(root);
	return to ? out_flush() : -ENOMEM;
}

/* A terminal shows one look, in the place of the last. */
static int show(const struct out *out, const struct rates *rates)
{
	static bool was_empty;
	bool empty = !rates->groups.nr, tty = isatty(STDOUT_FILENO);

	if (!out->json && tty)
		return show_screen(rates);
	if (!out->json && empty && was_empty)
		return 0;	/* once is enough where lines follow each other */
	was_empty = empty;
	return out_show(out, to_json(rates, false), views);
}

static __u64 now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SEC + time.tv_nsec;
}

/* A terminal that gets another size shows the same again, as much as fits. SIGWINCH is
 * blocked: a change of the size while something is shown is noticed afterwards.
 */
static int wait_for(__u64 interval, const sigset_t *resized, const struct out *out,
		    const struct rates *rates)
{
	__u64 end = now() + interval * MSEC, at;
	int ret = 0;

	while (!ret && (at = now()) < end) {
		struct timespec left = {
			.tv_sec = (end - at) / SEC,
			.tv_nsec = (end - at) % SEC,
		};

		if (sigtimedwait(resized, NULL, &left) == SIGWINCH &&
		    rates->elapsed && !out->json && isatty(STDOUT_FILENO))
			ret = show_screen(rates);
	}
	return ret;
}

static int run(const struct cli_args *args, struct err *err)
{
	__u64 interval = 1000, left = 0;
	struct rates rates = {};
	sigset_t resized;
	int ret;

	sigemptyset(&resized);
	sigaddset(&resized, SIGWINCH);
	sigprocmask(SIG_BLOCK, &resized, NULL);
	ret = cli_uint(args, INTERVAL, 10, 3600000, &interval, err) ?:
	      cli_uint(args, COUNT, 1, 0xffffffff, &left, err) ?:
	      rates_read(&rates, err);
	while (!ret) {
		ret = wait_for(interval, &resized, &args->out, &rates) ?:
		      rates_read(&rates, err) ?: show(&args->out, &rates);
		if (left && !--left)
			break;
	}
	rates_free(&rates);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Show what goes over each path, until interrupted",
		.options = options,
		.example = "top --interval 500 --count 2",
		.shows = true,
		.run = run,
	},
	{}
};

const struct cli_object cli_top = {
	.name = "top",
	.help = "show what goes over each path, live",
	.verbs = verbs,
};
