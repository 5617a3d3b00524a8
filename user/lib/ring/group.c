// SPDX-License-Identifier: GPL-2.0
#include "group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "switch_command.h"

static struct json_object *to_json(struct group *group)
{
	struct json_object *root = out_root();
	__u32 i;

	for (i = 0; i < group->config.nr_ranks; i++)
		group->config.rank[i].psn = group_psn(group, i, group->part[i]);
	reduce_config_put(root, &group->config);
	return root;
}

static void add_switch(struct group *group, const char *kind, __u32 number)
{
	struct group_switch *at = &group->at[group->switches++];

	snprintf(at->name, sizeof(at->name), "%s%u", kind, number);
	snprintf(at->option, sizeof(at->option), " --%s %u", kind, number);
}

void group_init(struct group *group, __u32 id, __u32 packets, const __u8 box[16], __u32 ranks)
{
	*group = (struct group) {
		.config = {
			.id = id,
			.root = REDUCE_NO_ROOT,
			.packets = packets,
			.window = REDUCE_WINDOW,
			.nr_ranks = ranks,
		},
		.switches = 1,
	};
	memcpy(group->config.box, box, sizeof(group->config.box));
}

void group_find_switches(struct group *group)
{
	const struct reduce_config *config = &group->config;
	__u32 i;

	for (i = 0; i < config->nr_ranks; i++)
		if (!i || config->rank[i].leaf != config->rank[i - 1].leaf)
			add_switch(group, "leaf", config->rank[i].leaf);
	if (group->switches > 1)
		add_switch(group, "spine", config->root);
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
	struct switch_command commands[GROUP_SWITCHES];
	bool told[GROUP_SWITCHES];
	struct err said = {};
	char words[64];
	__u32 i;

	for (i = 0; i < group->switches; i++) {
		struct group_switch *at = &group->at[i];

		told[i] = at->answer == which;
		snprintf(words, sizeof(words), "%s%s", verb, *text ? at->option : "");
		if (told[i])
			switch_command_start(&commands[i], line_of(command, at, words), text);
	}
	for (i = 0; i < group->switches; i++) {
		if (!told[i])
			continue;
		group->at[i].answer = switch_command_finish(&commands[i], until, &said);
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

	if (!at || sscanf(at, "Rank %u:", &rank) != 1 || rank >= ROCESTEER_REDUCE_MAX_RANKS)
		return 0;
	return rank;
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

	group->config.joined = true;
	group->psns = (struct group_psns) { .base = arc4random() };
	for (tries = 0; ret == -EADDRINUSE && tries < 2 * group->config.nr_ranks; tries++) {
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

	snprintf(verb, sizeof(verb), "unload %u", group->config.id);
	for (i = 0; i < group->switches; i++)
		group->at[i].answer = group->at[i].loaded ? -EAGAIN : 0;
	run_all(group, -EAGAIN, command, verb, "", until, err);
}
