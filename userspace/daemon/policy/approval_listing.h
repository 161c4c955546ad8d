/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that somebody approves, in full. To find them takes seconds and memory, so that an errand does it
 * (daemon/privsep/errand.h), and the loop takes what that has written.
 */
#ifndef CORDON_DAEMON_APPROVAL_LISTING_H
#define CORDON_DAEMON_APPROVAL_LISTING_H

#include <stdio.h>

#include "daemon/policy/approval_file.h"

/*
 * In the errand: writes lines, each with a NUL behind it. The policy is read from its file, and as it is kept in
 * `directory` if the file says something else by now. `base`: what it is compared with; NULL: it is the first of its name.
 * `policies`: where policies are looked for. -EBADMSG, -E2BIG, -ENOMEM.
 */
int approval_listing_write(const char *directory, struct approval_entry *entry,
			   struct approval_entry *base, const char *const *policies, FILE *to,
			   struct failure *failure);

/* In the loop, instead: the texts of all rules of its policy, which is loaded, that allow something. -ENOMEM. */
int approval_listing_texts(const struct approval_entry *entry, char ***ret_lines);

/* In the loop: NULL-terminated, caller frees with widening_free(). -EPROTO: no such lines; -ENOMEM. */
int approval_listing_read(const char *lines, size_t size, char ***ret_lines);

#endif
