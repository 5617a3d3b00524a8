// SPDX-License-Identifier: GPL-2.0
#include "peer_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rocesteer/types.h>

#include "cli/cli.h"

static int peer_add(const char *item, void *arg)
{
	struct peer_list *list = arg;
	__u8 addr[16], (*bigger)[16];

	if (addr_parse(item, addr))
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "%s: '%s' is not an address of a host",
			       list->where, item);
	if (set_find(&list->seen, addr, sizeof(addr)))
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "%s: %s is given twice", list->where, item);
	if (list->nr == ROCESTEER_MAX_PEERS)
		return err_set(list->err, EXIT_BAD_INPUT, "usage",
			       "%s: more than %u peers", list->where,
			       ROCESTEER_MAX_PEERS);
	bigger = reallocarray(list->addr, list->nr + 1, sizeof(addr));
	if (bigger)
		list->addr = bigger;
	if (!bigger || !set_get(&list->seen, addr, sizeof(addr), sizeof(addr)))
		return -ENOMEM;
	memcpy(list->addr[list->nr++], addr, 16);
	return 0;
}

/* One line of a file, up to a '#'. */
static int read_line(struct peer_list *list, char *line)
{
	static const char between[] = ", \t\r\n";
	char *item, *rest;
	int ret = 0;

	line[strcspn(line, "#")] = '\0';
	for (item = strtok_r(line, between, &rest); !ret && item;
	     item = strtok_r(NULL, between, &rest))
		ret = peer_add(item, list);
	return ret;
}

int peer_list_read(struct peer_list *list, const char *file)
{
	struct lines lines;
	int ret = lines_open(&lines, strcmp(file, "-") ? file : NULL, list->err);

	if (ret)
		return ret;
	while (!ret && (ret = lines_next(&lines)) > 0) {
		snprintf(list->where, sizeof(list->where), "%.128s: line %u", lines.file,
			 lines.number);
		ret = read_line(list, lines.text);
	}
	lines_close(&lines);
	if (!ret && !list->nr)
		ret = err_set(list->err, EXIT_BAD_INPUT, "bad-file",
			      "%s: contains no address", lines.file);
	return ret;
}

int peer_list_parse(struct peer_list *list, const char *option, const char *value)
{
	snprintf(list->where, sizeof(list->where), "--%s", option);
	return cli_each(option, value, peer_add, list, list->err);
}

void peer_list_free(struct peer_list *list)
{
	set_clear(&list->seen, free);
	free(list->addr);
}
