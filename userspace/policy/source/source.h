/* SPDX-License-Identifier: Apache-2.0 */
/* Policy text in memory, and places in it. */
#ifndef CORDON_POLICY_SOURCE_H
#define CORDON_POLICY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "policy/core/arena.h"
#include "policy/source/diagnostic.h"
#include "policy/source/search.h"

#define SOURCE_SIZE_MAX (1u << 20)

struct source {
	const char *name; /* in diagnostics and rules */
	const char *path; /* as opened; includes are relative to its directory */
	const char *text;
	size_t size;
	dev_t device; /* with inode: the same file by another name; 0, 0 for text in memory */
	ino_t inode;
};

/* line and column count from 1, columns in characters; 0: the file as a whole. */
struct place {
	const struct source *source;
	unsigned int line, column;
};

/*
 * Reads a regular file of at most SOURCE_SIZE_MAX bytes. Everything belongs to the arena.
 * -EISDIR: a directory; -EINVAL: neither file nor directory; -EFBIG; -ENOMEM; or as open(2).
 */
int source_read(struct arena *a, const char *path, const char *name, struct source **ret_source);

/* The same, and adds the file to the search's inputs, if it has any. */
int source_read_input(struct arena *a, const char *path, const char *name,
		      const struct policy_search *search, struct source **ret_source);

/*
 * The path of the policy that `name` means: itself if it is a path, else NAME.yaml in the search
 * directories. -ENOENT: nowhere; -ENOMEM.
 */
int source_find(struct arena *a, const char *name, const struct policy_search *search,
		const char **ret_path);

/* The same for an include: relative to the including file, then in the search directories. */
int source_find_include(struct arena *a, const char *name, const struct source *from,
			const struct policy_search *search, const char **ret_path);

/*
 * The place of the first byte that policy text must not hold: NUL or malformed UTF-8.
 * False: there is none.
 */
bool source_find_bad_byte(const struct source *s, struct place *ret_place, bool *ret_nul);

/* What is wrong at a place; `hint` may be NULL. */
void report_error(struct diagnostics *d, const struct place *place, const char *hint,
		  const char *format, ...) _printf_(4, 5);
void report_warning(struct diagnostics *d, const struct place *place, const char *hint,
		    const char *format, ...) _printf_(4, 5);
void report_note(struct diagnostics *d, const struct place *place, const char *hint,
		 const char *format, ...) _printf_(4, 5);

#endif
