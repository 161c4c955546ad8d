/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns for names on record, as policies spell them: `*` stays inside a component, `**` crosses,
 * `?`, `[a-z]`, `{a,b}`, and a backslash in front of what is meant as it is. A pattern without a
 * '/' is one for the last component.
 */
#ifndef CORDON_AUDIT_GLOB_H
#define CORDON_AUDIT_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct audit_glob;

/* -EINVAL: a bracket is not closed, or braces lie within braces; -E2BIG: too many alternatives. */
int audit_glob_new(const char *pattern, struct audit_glob **ret_glob);
void audit_glob_free(struct audit_glob *glob);
DEFINE_CLEANUP(struct audit_glob *, audit_glob_free, audit_glob_freep)

bool audit_glob_matches(const struct audit_glob *glob, const char *name, size_t size);

/* What all names that match begin with; "" if nothing is known. */
const char *audit_glob_prefix(const struct audit_glob *glob);

#endif
