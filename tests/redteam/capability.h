/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities that a program has once it runs. */
#ifndef CORDON_TESTS_REDTEAM_CAPABILITY_H
#define CORDON_TESTS_REDTEAM_CAPABILITY_H

#include <libgen.h>
#include <linux/capability.h>
#include <sys/prctl.h>

#include "tests/redteam/attack.h"

/* The program has_capability, beside the folders of the attacks. */
static inline const char *has_capability(void)
{
	static char path[PATH_SIZE];
	char own[PATH_SIZE] = {};

	NEED(readlink("/proc/self/exe", own, sizeof(own) - 1));
	snprintf(path, sizeof(path), "%s/has_capability", dirname(dirname(own)));
	return path;
}

static inline int run_with_capability(const char *program, int number)
{
	char text[8], *argv[] = {(char *)program, text, NULL};

	snprintf(text, sizeof(text), "%d", number);
	return run_program(argv);
}

#endif
