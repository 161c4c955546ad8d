/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which host a log is of: the record of action "identity" at the head of each segment. It holds for
 * all of the segment.
 */
#ifndef CORDON_AUDIT_IDENTITY_H
#define CORDON_AUDIT_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/uuid.h"

#define IDENTITY_HOST_SIZE 33u	 /* 32 lower-case hexadecimal digits and a NUL */
#define IDENTITY_TEXT_MAX  4096u /* what identity_format() writes, with its NUL */
#define IDENTITY_LINE_MAX  (IDENTITY_TEXT_MAX + 512u) /* the record's line */

struct identity {
	/*
	 * HMAC-SHA256 of cordon's own constant under the machine id, as `systemd-id128
	 * --app-specific` makes it: the machine id itself is confidential. Empty: the host has
	 * none.
	 */
	char host[IDENTITY_HOST_SIZE];
	char name[256];		   /* the host's; empty: it has none that is text */
	char boot[UUID_TEXT_SIZE]; /* of this boot; empty: not known */
	char kernel[128];
	const char *version;	   /* of cordon. This and what follows is borrowed */
	const char *tenant;	   /* or NULL */
	const char *const *labels; /* NAME, VALUE, ..., NULL; or NULL */
};

/*
 * `machine_id`: what /etc/machine-id holds. -EINVAL: not 32 hexadecimal digits; -EIO: libcrypto
 * refused.
 */
int identity_host_id(const char *machine_id, char ret_host[IDENTITY_HOST_SIZE]);

/* What can be known of this host; what cannot is left empty. Not `version` and what follows. */
void identity_of_host(struct identity *ret_identity);

/*
 * The record's members that say all this, up to where the log's own id comes: equal texts, same
 * identity. -EMSGSIZE: too long; -ENOMEM.
 */
int identity_format(const struct identity *identity, char text[IDENTITY_TEXT_MAX]);

/*
 * The whole record, of which `text` and `log` are parts: compact JSON, as audit_log_append_text()
 * takes it.
 */
void identity_record(const char *text, const char log[UUID_TEXT_SIZE], const char *time,
		     char record[IDENTITY_LINE_MAX]);

/*
 * Is this line of a log, of which `size` bytes are there without its newline, such a record?
 * *ret_log: its log's id; *ret_text (may be NULL): where in it that begins which identity_format()
 * made, *ret_size its length.
 */
bool identity_of_line(const char *line, size_t size, char ret_log[UUID_TEXT_SIZE],
		      const char **ret_text, size_t *ret_size);

/* The host's id in what identity_format() made; false: it has none. */
bool identity_host_of_text(const char *text, size_t size, char ret_host[IDENTITY_HOST_SIZE]);

#endif
