/* SPDX-License-Identifier: Apache-2.0 */
/* What checking a log comes upon, told as it is found, and counted. */
#ifndef CORDON_AUDIT_FINDINGS_H
#define CORDON_AUDIT_FINDINGS_H

#include <stdint.h>

#include "base/cleanup.h"

struct findings {
	/*
	 * Each may be NULL. A problem says where. A note is worth knowing, but nothing is wrong
	 * with the log.
	 */
	void (*problem)(void *data, const char *text);
	void (*note)(void *data, const char *text);
	void *data;
	uint64_t problems, notes;
};

_printf_(2, 3) void findings_problem(struct findings *findings, const char *format, ...);
_printf_(2, 3) void findings_note(struct findings *findings, const char *format, ...);

#endif
