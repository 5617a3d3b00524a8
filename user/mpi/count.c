// SPDX-License-Identifier: GPL-2.0
#include "count.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char * const names[] = {
	[COUNT_TAKEN] = "taken",
	[COUNT_OFF] = "off",
	[COUNT_SMALL] = "small",
	[COUNT_TYPE] = "type",
	[COUNT_OP] = "op",
	[COUNT_NONBLOCKING] = "nonblocking",
	[COUNT_COMM] = "comm",
	[COUNT_DEVICE] = "device",
	[COUNT_HOST] = "host",
	[COUNT_SWITCH] = "switch",
	[COUNT_CONNECT] = "connect",
	[COUNT_FAILED] = "failed",
	[COUNT_GIVEN_UP] = "given_up",
};

static _Atomic __u64 calls[COUNT_NR], reduced, groups;
static atomic_flag explained = ATOMIC_FLAG_INIT;

void count_call(enum count count)
{
	atomic_fetch_add_explicit(&calls[count], 1, memory_order_relaxed);
}

void count_bytes(__u64 bytes)
{
	atomic_fetch_add_explicit(&reduced, bytes, memory_order_relaxed);
}

void count_group(void)
{
	atomic_fetch_add_explicit(&groups, 1, memory_order_relaxed);
}

__u64 count_get(enum count count)
{
	return atomic_load_explicit(&calls[count], memory_order_relaxed);
}

/* A line is written at once: ranks share a file. */
static void write_line(const char *where, const char *line)
{
	int fd = STDERR_FILENO;

	if (strcmp(where, "text") && strcmp(where, "json"))
		fd = open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		fprintf(stderr, "librocesteer-mpi: %s: cannot write the counters: %m\n", where);
	if (fd > STDERR_FILENO)
		close(fd);
}

void count_print(const char *where, int rank)
{
	bool text = !strcmp(where, "text");
	const char *form = text ? " %s=%llu" : ", \"%s\": %llu";
	char line[1024];
	int n, i;

	n = snprintf(line, sizeof(line), text ? "librocesteer-mpi: rank=%d" : "{\"rank\": %d",
		     rank);
	for (i = 0; i < COUNT_NR; i++)
		n += snprintf(line + n, sizeof(line) - n, form, names[i], count_get(i));
	n += snprintf(line + n, sizeof(line) - n, form, "bytes", (__u64)reduced);
	n += snprintf(line + n, sizeof(line) - n, form, "groups", (__u64)groups);
	snprintf(line + n, sizeof(line) - n, text ? "\n" : "}\n");
	write_line(where, line);
}

void count_explain(int rank, const char *fmt, ...)
{
	char text[640];
	va_list args;

	if (atomic_flag_test_and_set(&explained))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "librocesteer-mpi: rank %d: %s; MPI reduces by itself\n", rank, text);
}
