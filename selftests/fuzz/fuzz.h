/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For all fuzzers. Each is a file with LLVMFuzzerTestOneInput(), which libFuzzer calls with
 * one input after the other. It passes the input to a public function of the tree, and
 * asserts what this function guarantees.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/types.h>

#include "base/base.h"

/* Functions that stand in for others ignore most of their parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

/* Make a file in memory. Return: its name, which is valid until the next call but one. */
static inline const char *fuzz_file(const void *data, size_t size)
{
	static char name[2][32];
	static int fd[2];
	static int which;

	which = !which;
	if (!fd[which]) {
		fd[which] = memfd_create("fuzz", MFD_CLOEXEC);
		assert(fd[which] >= 0);
		snprintf(name[which], sizeof(name[which]), "/proc/self/fd/%d", fd[which]);
	}
	assert(!ftruncate(fd[which], 0));
	assert(pwrite(fd[which], data, size, 0) == (ssize_t)size);
	return name[which];
}

/* Replace a file of this name, for functions that look beside it. */
static inline void fuzz_write(const char *name, const void *data, size_t size)
{
	FILE *file = fopen(name, "w");

	assert(file && fwrite(data, 1, size, file) == size);
	assert(!fclose(file));
}

/* Parse the input as the commands parse a file of JSON. Return: 0 or a negative errno. */
static inline int fuzz_json(const __u8 *data, size_t size, struct json_object **root)
{
	struct err err = {};
	int ret = json_file_read(fuzz_file(data, size), 1u << 20, 32, root, &err);

	assert(!ret || err.code);
	return ret;
}

/**
 * struct fuzz_input - the input as a series of decisions
 * @at: the next byte
 * @left: bytes
 */
struct fuzz_input {
	const __u8 *at;
	size_t left;
};

/* Return: the next byte, or 0 after the last. */
static inline __u8 fuzz_u8(struct fuzz_input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* At most @size bytes. Return: how many there were. */
static inline size_t fuzz_bytes(struct fuzz_input *in, void *data, size_t size)
{
	size_t n = size < in->left ? size : in->left;

	memcpy(data, in->at, n);
	in->at += n;
	in->left -= n;
	return n;
}

#endif /* FUZZ_H */
