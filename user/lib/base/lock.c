// SPDX-License-Identifier: GPL-2.0
#include "lock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <linux/types.h>

#include "clock.h"
#include "table.h"
#include "wait_limit.h"

#define SEC		1000000000ull
#define WAIT		30		/* seconds */
#define TELL_AFTER	SEC
#define PAUSE_MIN	1000000		/* ns between two attempts */
#define PAUSE_MAX	50000000

/* The process that has the lock, as the kernel lists it, or 0. */
static int holder(int fd)
{
	unsigned int major, minor;
	unsigned long inode;
	char line[128];
	struct stat st;
	FILE *file;
	int pid, found = 0;

	if (fstat(fd, &st))
		return 0;
	file = fopen("/proc/locks", "re");
	if (!file)
		return 0;
	while (!found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid,
			   &major, &minor, &inode) == 4 &&
		    major == major(st.st_dev) && minor == minor(st.st_dev) &&
		    inode == st.st_ino)
			found = pid;
	fclose(file);
	return found;
}

/*
 * The process that took the lock may have ended, and another process may hold its
 * descriptor.
 */
static void describe_holder(int fd, char *text, size_t size)
{
	int pid = holder(fd);
	char name[64], comm[32];
	FILE *file;

	snprintf(text, size, "another process");
	snprintf(name, sizeof(name), "/proc/%d/comm", pid);
	file = pid > 0 ? fopen(name, "re") : NULL;
	if (!file)
		return;
	if (fgets(comm, sizeof(comm), file)) {
		comm[strcspn(comm, "\n")] = '\0';
		snprintf(text, size, "process %d (%s)", pid, comm);
	}
	fclose(file);
}

static int fail(int fd, const char *name, struct err *err)
{
	int ret = -errno;
	char who[80];

	if (ret != -EAGAIN)
		return err_errno(err, -ret, "lock", "cannot lock %s", name);
	describe_holder(fd, who, sizeof(who));
	err_set(err, EXIT_LOCKED, "locked", "%s has %s locked", who, name);
	err_hint(err, "Try again when that process has ended.");
	return ret;
}

static int try(int fd, int how)
{
	int ret;

	do {
		ret = flock(fd, how | LOCK_NB);
	} while (ret && errno == EINTR);
	return ret;
}

int lock_try(int fd, int how, const char *name, struct err *err)
{
	return try(fd, how) ? fail(fd, name, err) : 0;
}

static void report_wait(int fd, const char *name)
{
	char who[80], raw[512], text[512];

	describe_holder(fd, who, sizeof(who));
	snprintf(raw, sizeof(raw), "waiting for %.256s, which %s has locked", name, who);
	fprintf(stderr, "%s: %s\n", program_invocation_short_name,
		table_printable(raw, text, sizeof(text)));
}

/*
 * Attempts rather than a wait in the kernel, which only a signal would end: a
 * holder has the lock for milliseconds.
 */
int lock_take(int fd, int how, const char *name, struct err *err)
{
	struct timespec pause = { .tv_nsec = PAUSE_MIN };
	int wait = wait_limit("ROCESTEER_LOCK_WAIT", WAIT, err);
	__u64 start = clock_ns(), now;
	bool told = false;

	if (wait < 0)
		return wait;
	while (try(fd, how)) {
		now = clock_ns();
		if (errno != EAGAIN || now - start >= wait * SEC)
			return fail(fd, name, err);
		if (!told && now - start >= TELL_AFTER) {
			report_wait(fd, name);
			told = true;
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_MAX)
			pause.tv_nsec *= 2;
	}
	return 0;
}
