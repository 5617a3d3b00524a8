// SPDX-License-Identifier: GPL-2.0
#include "group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static struct json_object *to_json(const struct group *group)
{
	struct json_object *root = out_root(), *ranks;
	__u32 i;

	out_uint(root, "group", group->number);
	out_string(root, "type", group->type);
	out_string(root, "op", group->op);
	out_uint(root, "mtu", group->mtu);
	out_uint(root, "packets", group->packets);
	out_uint(root, "window", group->window);
	if (group->root != GROUP_NO_ROOT)
		out_uint(root, "root", group->root);
	if (group_is_box(group))
		out_addr(root, "box", group->box);
	ranks = out_array(root, "ranks");
	for (i = 0; i < group->ranks; i++) {
		const struct group_rank *rank = &group->rank[i];
		struct json_object *obj = out_append_object(ranks);

		out_addr(obj, "address", rank->address);
		if (group->planned)
			out_uint(obj, "leaf", rank->leaf);
		out_uint(obj, "qpn", rank->qpn);
		out_uint(obj, "psn", group_psn(group, i, rank->psn));
		out_uint(obj, "va", rank->va);
		if (group_is_box(group))
			out_uint(obj, "sender_qpn", rank->sender);
	}
	return root;
}

static void add_switch(struct group *group, const char *kind, __u32 number)
{
	struct group_switch *at = &group->at[group->switches++];

	snprintf(at->name, sizeof(at->name), "%s%u", kind, number);
	snprintf(at->option, sizeof(at->option), " --%s %u", kind, number);
}

void group_find_switches(struct group *group)
{
	__u32 i;

	group->switches = !group->planned;
	for (i = 0; group->planned && i < group->ranks; i++)
		if (!i || group->rank[i].leaf != group->rank[i - 1].leaf)
			add_switch(group, "leaf", group->rank[i].leaf);
	if (group->switches > 1)
		add_switch(group, "spine", group->root);
}

/* "COMMAND reduce VERB", for the shell; NULL without memory. */
static char *line_of(const char *command, const struct group_switch *at, const char *verb)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);
	const char *mark;

	if (!out)
		return NULL;
	while (at->name[0] && (mark = strstr(command, "%s"))) {
		fprintf(out, "%.*s%s", (int)(mark - command), command, at->name);
		command = mark + 2;
	}
	fprintf(out, "%s reduce %s", command, verb);
	return fclose(out) ? NULL : line;
}

/*
 * Run a command for all switches whose last answer is @which, in parallel. A missing group
 * is no failure the first time.
 */
static void run_all(struct group *group, int which, const char *command, const char *verb,
		    const char *text, __u64 until, struct err *err)
{
	struct command commands[GROUP_SWITCHES];
	bool told[GROUP_SWITCHES];
	struct err said = {};
	char words[64];
	__u32 i;

	for (i = 0; i < group->switches; i++) {
		struct group_switch *at = &group->at[i];

		told[i] = at->answer == which;
		snprintf(words, sizeof(words), "%s%s", verb, *text ? at->option : "");
		if (told[i])
			command_start(&commands[i], line_of(command, at, words), text);
	}
	for (i = 0; i < group->switches; i++) {
		if (!told[i])
			continue;
		group->at[i].answer = command_finish(&commands[i], until, &said);
		if (group->at[i].answer && (group->at[i].answer != -ENOENT || which == -ENOENT))
			*err = said;
	}
}

/* A group that is not there is loaded. Return: the last error of a switch, or 0. */
static int try_join(struct group *group, const char *command, __u64 until, struct err *err)
{
	struct json_object *root = to_json(group);
	const char *text = json_object_to_json_string(root);
	bool missing[GROUP_SWITCHES];
	int ret = 0;
	__u32 i;

	for (i = 0; i < group->switches; i++)
		group->at[i].answer = group->planned || group->at[i].loaded ? -EAGAIN : -ENOENT;
	run_all(group, -EAGAIN, command, "join - --json", text, until, err);
	for (i = 0; i < group->switches; i++)
		missing[i] = group->at[i].answer == -ENOENT;
	run_all(group, -ENOENT, command, "load - --json", text, until, err);
	for (i = 0; i < group->switches; i++) {
		group->at[i].loaded |= missing[i] && !group->at[i].answer;
		ret = ret ?: group->at[i].answer;
	}
	json_object_put(root);
	return ret;
}

/* The rank whose PSN a switch has refused, which says "Rank 3: first PSN 7 is near ..". */
static __u32 refused_rank(const struct err *err)
{
	const char *at = strstr(err->message, "Rank ");
	__u32 rank = 0;

	return at && sscanf(at, "Rank %u:", &rank) == 1 && rank < GROUP_RANKS ? rank : 0;
}

/*
 * A PSN that is too near to where an earlier run ended is apart from there with 2^23 more. The
 * last run has mostly ended at similar PSNs for all ranks, so the other ranks move as well.
 */
int group_join(struct group *group, const char *command, __u64 until, struct err *err)
{
	int ret = -EADDRINUSE;
	struct err said;
	__u32 tries;

	group->psns = (struct group_psns) { .base = arc4random() };
	for (tries = 0; ret == -EADDRINUSE && tries < 2 * group->ranks; tries++) {
		if (tries)
			group->psns.opposite ^= ~0ull << refused_rank(&said);
		said = (struct err) {};
		ret = try_join(group, command, until, &said);
	}
	if (ret)
		*err = said;
	return ret;
}

void group_leave(struct group *group, const char *command, __u64 until, struct err *err)
{
	char verb[32];
	__u32 i;

	snprintf(verb, sizeof(verb), "unload %u", group->number);
	for (i = 0; i < group->switches; i++)
		group->at[i].answer = group->at[i].loaded ? -EAGAIN : 0;
	run_all(group, -EAGAIN, command, verb, "", until, err);
}
