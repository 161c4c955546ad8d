/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from the shipper's state file how far the log is shipped, because retention keeps segments
 * until they are shipped. The file is untrusted. Wrong content can have segments deleted as if the
 * file did not exist, or kept up to a limit. The daemon copies the file's bytes, and a log's writer
 * parses them.
 */
#ifndef CORDON_DAEMON_SHIPPED_H
#define CORDON_DAEMON_SHIPPED_H

#include <stddef.h>

#include "audit/write/log.h"

/* A larger file counts as if nothing was shipped. */
#define SHIPPED_TEXT_MAX 4096u

struct shipped_text {
	char text[SHIPPED_TEXT_MAX]; /* ends with a NUL */
	size_t size;		     /* with the NUL; 0: no file, so there is no shipper */
};

/* Never blocks, whatever the file is. */
void shipped_take(const char *path, struct shipped_text *ret_text);

/* An invalid text counts as if nothing was shipped. */
void shipped_read(const char *text, size_t size, struct audit_log_shipped *ret_shipped);

#endif
