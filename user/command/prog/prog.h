/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of rocesteer prog. */
#ifndef ROCESTEER_CLI_PROG_H
#define ROCESTEER_CLI_PROG_H

#include "steer/steer.h"

/**
 * struct prog - programs being replaced
 * @err: filled on failure
 * @steer: the tables
 * @genl: the module
 * @listed: flows that were added by hand
 * @nr_listed: how many
 * @resequenced: flows whose order the module restores
 * @adopted: queue pairs that the module has learnt
 * @replaced: the module is another one now
 */
struct prog {
	struct err *err;
	struct steer *steer;
	struct genl *genl;
	struct genl_flow *listed;
	size_t nr_listed;
	size_t resequenced;
	long adopted;
	bool replaced;
};

/* Is the module that is installed another one than the one that is loaded? */
bool prog_module_is_other(void);

/*
 * The programs alone carry flows on: flows become whole, and peers get no promise of an order.
 * Return: 0 or a negative errno.
 */
int prog_module_leave(struct prog *p);

/* Load the installed module instead, once no program calls it. Return: 0 or a negative errno. */
int prog_module_replace(struct prog *p);

#endif /* ROCESTEER_CLI_PROG_H */
