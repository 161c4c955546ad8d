/* SPDX-License-Identifier: Apache-2.0 */
/* Notes Ctrl-C, so that the work under way can stop and tidy up first. */
#include "cli/term/interrupt.h"

#include <stddef.h>

#include "base/cleanup.h"

static const int held[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[ARRAY_SIZE(held)];
static volatile sig_atomic_t came;

static void note(int number)
{
	came = number;
}

const volatile sig_atomic_t *interrupt_hold(void)
{
	/* What waits is to be interrupted: no SA_RESTART. */
	const struct sigaction action = {.sa_handler = note};

	came = 0;
	for (size_t i = 0; i < ARRAY_SIZE(held); i++) {
		(void)sigaction(held[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			(void)sigaction(held[i], &action, NULL);
	}
	return &came;
}

void interrupt_release(void)
{
	int number = came;

	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		(void)sigaction(held[i], &before[i], NULL);
	came = 0;
	if (number)
		(void)raise(number);
}
