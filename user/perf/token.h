/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the ranks of a run share and nobody else has: 128 bits, as 32 hexadecimal
 * digits with any dashes. From a file, or from the environment, never from the
 * command line, which other users can see.
 */
#ifndef ROCESTEER_PERF_TOKEN_H
#define ROCESTEER_PERF_TOKEN_H

#include "base/base.h"
#include "mac.h"

#define TOKEN_VARIABLE	"ROCESTEER_PERF_TOKEN"

struct token {
	__u8 key[MAC_KEY];
};

/**
 * token_read() - read the token of this run
 * @token: set
 * @file: that holds it, and which its owner alone may read; or NULL: it is in
 *	TOKEN_VARIABLE
 * @err: names file or variable, never what is in it
 *
 * Return: 0 or a negative errno.
 */
int token_read(struct token *token, const char *file, struct err *err);

#endif /* ROCESTEER_PERF_TOKEN_H */
