// SPDX-License-Identifier: GPL-2.0
/*
 * The machine that sums for a group, kmod/reduce/slot.c, in one switch or in a tree of
 * switches, among hosts and links that lose packets: all runs of the least groups, and many
 * runs of others. slot_model.h says what hosts, links and switches are. The same program with
 * a slot.c or a slot_kind.c that has a fault must find it: slot_mutants names the faults.
 *
 * test_slot [RUNS]	all tests, with so many runs at random
 * test_slot show RUN	what happens in one of them
 */
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "slot_walk.h"
#include "../../ktap.h"

#define RUNS	1333333		/* of "make check-all", and to find a mutant */
#define FEW_RUNS 400000

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static const struct least leasts[] = {
	/* ranks, leaves, window, packets, messages; lost, twice, late, timers, unloaded */
	{ 2, 0, 1, 1, 2, { 3, 1, 0, 1, 0 } },
	{ 2, 0, 1, 1, 3, { 2, 1, 0, 1, 0 } },
	{ 2, 0, 1, 2, 1, { 2, 0, 0, 1, 0 } },
	{ 2, 0, 1, 2, 2, { 1, 0, 1, 0, 0 } },
	{ 2, 0, 1, 2, 3, { 2, 0, 0, 0, 0 } },
	{ 2, 0, 2, 1, 5, { 1, 0, 0, 0, 0 } },
	{ 2, 0, 2, 1, 4, { 0, 0, 1, 0, 0 } },
	{ 3, 0, 1, 1, 3, { 1, 0, 0, 0, 0 } },
	{ 2, 2, 1, 1, 2, { 1, 1, 0, 1, 0 } },
	{ 2, 2, 1, 1, 3, { 2, 0, 0, 1, 0 } },
	{ 2, 2, 1, 1, 2, { 1, 0, 0, 1, 1 } },
	{ 2, 2, 1, 2, 3, { 1, 0, 0, 0, 0 } },
	{ 2, 2, 2, 1, 4, { 0, 0, 1, 0, 0 } },
	{ 2, 2, 2, 1, 5, { 1, 0, 0, 0, 0 } },
	{ 4, 2, 1, 1, 2, { 1, 0, 0, 0, 0 } },
	{ 4, 2, 1, 1, 2, { 0, 0, 0, 0, 1 } },
	{ 4, 2, 1, 1, 3, { 0, 0, 0, 0, 0 } },
	{ 3, 3, 1, 1, 2, { 1, 0, 0, 0, 0 } },
};

static void test_least(const struct least *least)
{
	double start = seconds();
	bool ok = walk_all(least);
	char leaves[32] = "";

	if (least->leaves)
		snprintf(leaves, sizeof(leaves), " at %u leaves", least->leaves);
	ktap_result(ok, "all runs: %u ranks%s, W %u, P %u, %u messages; "
		    "%u lost, %u twice, %u late, %u timers, %u modules removed",
		    least->ranks, leaves, least->window, least->packets, least->messages,
		    least->bounds.losses, least->bounds.twins, least->bounds.late,
		    least->bounds.timers, least->bounds.unloads);
	printf("# %u states, %llu steps, longest path %u, %.1f s\n", walk_stat.states,
	       (unsigned long long)walk_stat.steps, walk_stat.longest, seconds() - start);
	if (ok)
		return;
	printf("# broken: %s\n", model_fault);
	walk_print();
}

static void test_runs(u64 runs)
{
	double start = seconds();
	u32 longest = 0;
	u64 steps = 0, number = random_runs(runs, &steps, &longest);

	if (number < runs)
		ktap_result(false, "run %llu breaks: %s", (unsigned long long)number, model_fault);
	else
		ktap_result(true, "%llu runs at random", (unsigned long long)runs);
	printf("# %llu steps, longest run %u, %.1f s\n", (unsigned long long)steps, longest,
	       seconds() - start);
}

/* This program has a fault. Return: exit status, 0 when the fault is found. */
static int mutant(void)
{
	u32 i, longest = 0;
	u64 steps = 0, number;

	number = random_runs(RUNS, &steps, &longest);
	if (model_fault) {
		printf("# run %llu breaks: %s\n", (unsigned long long)number, model_fault);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(leasts); i++)
		if (!walk_all(&leasts[i])) {
			printf("# walk %u breaks: %s\n", i, model_fault);
			return 0;
		}
	return 1;
}

static void test_mutant(const char *directory, const char *name)
{
	char program[PATH_MAX];
	int status = -1;
	pid_t pid;

	snprintf(program, sizeof(program), "%s/slot/%s", directory, name);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl(program, program, "mutant", NULL);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	ktap_result(pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status),
		    "the fault %s is found", name);
}

static void test_mutants(char *self)
{
	static char names[] = SLOT_MUTANTS;
	const char *directory = dirname(self);
	char *name;

	for (name = strtok(names, " "); name; name = strtok(NULL, " "))
		test_mutant(directory, name);
}

int main(int argc, char **argv)
{
	u64 runs = ktap_all() ? RUNS : FEW_RUNS;
	u32 i;

	if (argc == 2 && !strcmp(argv[1], "mutant"))
		return mutant();
	if (argc == 3 && !strcmp(argv[1], "show")) {
		model_trace = true;
		random_run(strtoull(argv[2], NULL, 0));
		return !!model_fault;
	}
	if (argc > 1)
		runs = strtoull(argv[1], NULL, 0);
	ktap_begin();
	for (i = 0; i < ARRAY_SIZE(leasts); i++)
		test_least(&leasts[i]);
	test_runs(runs);
	test_mutants(argv[0]);
	return ktap_end();
}
