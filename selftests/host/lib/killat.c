// SPDX-License-Identifier: GPL-2.0
/*
 * Kill a command before one of its system calls, or let that call fail:
 *
 *	killat N SECONDS COMMAND...
 *	killat -e ERRNO N SECONDS COMMAND...
 *
 * The command gets SIGKILL before the N-th system call after execve(), and the exit status is
 * 99; a command that ends earlier has its own status. After SECONDS the command is killed,
 * status 98. With -e the call fails with ERRNO; a command that succeeds without an N-th call
 * has status 97. x86-64 only.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/reg.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILLED	99
#define GOES_ON	98
#define TOO_FEW	97

static volatile sig_atomic_t late;
static pid_t pid;

static void on_alarm(int signal)
{
	(void)signal;
	late = 1;
	kill(pid, SIGKILL);
}

/* Replace the N-th call by an invalid one. The last call never fails. */
static void hit(int error)
{
	if (!error)
		kill(pid, SIGKILL);
	else if (ptrace(PTRACE_PEEKUSER, pid, 8 * ORIG_RAX, 0) != SYS_exit_group)
		ptrace(PTRACE_POKEUSER, pid, 8 * ORIG_RAX, -1);
}

int main(int argc, char **argv)
{
	int error = 0;
	long at, n = 0;
	bool enters = true;
	int status, sent = 0;

	if (argc > 2 && !strcmp(argv[1], "-e")) {
		error = atoi(argv[2]);
		argv += 2;
		argc -= 2;
	}
	if (argc < 4)
		errx(2, "usage: killat [-e ERRNO] N SECONDS COMMAND...");
	at = atol(argv[1]);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[3], argv + 3);
		err(127, "%s", argv[3]);
	}
	signal(SIGALRM, on_alarm);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		err(2, "cannot trace %s", argv[3]);
	alarm(atoi(argv[2]));
	for (;;) {
		ptrace(PTRACE_SYSCALL, pid, 0, sent);
		sent = 0;
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				err(2, "wait");
		if (WIFEXITED(status))
			return WEXITSTATUS(status) ?:
			       (error && n < at ? TOO_FEW : 0);
		if (WIFSIGNALED(status))
			return late ? GOES_ON : KILLED;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (enters && ++n == at)
				hit(error);
			else if (error && n == at)
				ptrace(PTRACE_POKEUSER, pid, 8 * RAX, -error);
			enters = !enters;
		} else if (WSTOPSIG(status) != SIGTRAP) {
			sent = WSTOPSIG(status);
		}
	}
}
