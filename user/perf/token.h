/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The secret of the ranks of a run: 128 bits, as 32 hexadecimal digits with any dashes,
 * from a file or the environment. Other users can see a command line.
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
 * @file: file with the token, which its owner alone may read; NULL: TOKEN_VARIABLE has it
 * @err: names file or variable, never the contents
 *
 * Return: 0 or a negative errno.
 */
int token_read(struct token *token, const char *file, struct err *err);

#endif /* ROCESTEER_PERF_TOKEN_H */
