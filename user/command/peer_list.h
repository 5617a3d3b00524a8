/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of peers that a user gives: an option, or a file. */
#ifndef ROCESTEER_PEER_LIST_H
#define ROCESTEER_PEER_LIST_H

#include "base/base.h"

/**
 * struct peer_list - addresses of hosts, no two alike
 * @addr: in the given order
 * @nr: number of addresses, at most ROCESTEER_MAX_PEERS
 * @seen: set of the same
 * @where: option or line that the next one is from, for messages
 * @err: filled on failure
 */
struct peer_list {
	__u8 (*addr)[16];
	size_t nr;
	struct set seen;
	char where[160];
	struct err *err;
};

/* Add the items of an option, between commas. Return: 0 or a negative errno. */
int peer_list_parse(struct peer_list *list, const char *option, const char *value);

/*
 * Add those of a file, between white space or commas, without what follows a '#'; "-" is standard
 * input. A file without an address is refused. Return: 0 or a negative errno.
 */
int peer_list_read(struct peer_list *list, const char *file);

void peer_list_free(struct peer_list *list);

#endif /* ROCESTEER_PEER_LIST_H */
