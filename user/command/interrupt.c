// SPDX-License-Identifier: GPL-2.0
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "base/base.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static sigset_t before;

void interrupt_hold(void)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
}

/* A pending signal that is ignored would not end the process. */
bool interrupt_pending(void)
{
	struct sigaction action;
	sigset_t pending;
	size_t i;

	sigpending(&pending);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigismember(&pending, signals[i]) &&
		    !sigaction(signals[i], NULL, &action) &&
		    action.sa_handler != SIG_IGN)
			return true;
	return false;
}

void interrupt_release(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
}
