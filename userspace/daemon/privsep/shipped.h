/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the log is shipped, as the shipper's state file says: its word, by which retention waits
 * for it. One that lies can have segments deleted as if it were not there, or kept up to a bound.
 * The daemon takes the file's bytes, and a log's writer reads what they say.
 */
#ifndef CORDON_DAEMON_SHIPPED_H
#define CORDON_DAEMON_SHIPPED_H

#include <stddef.h>

#include "audit/write/log.h"

/* A file with more says nothing. */
#define SHIPPED_TEXT_MAX 4096u

struct shipped_text {
	char text[SHIPPED_TEXT_MAX]; /* with a NUL behind it */
	size_t size;		     /* with that; 0: there is no file, so nobody ships */
};

/* Waits for nothing, whatever the file is. */
void shipped_take(const char *path, struct shipped_text *ret_text);

/* What says nothing is taken as that nothing was shipped. */
void shipped_read(const char *text, size_t size, struct audit_log_shipped *ret_shipped);

#endif
