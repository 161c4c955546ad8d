/* SPDX-License-Identifier: Apache-2.0 */
/* The text of policies in memory, and positions in it. */
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
	const char *name; /* for diagnostics and rules */
	const char *path; /* as opened; includes are relative to its directory */
	const char *text;
	size_t size;
	dev_t device; /* with the inode: the file's identity; 0, 0 for text in memory */
	ino_t inode;
};

/* `line` and `column` start at 1, columns are counted in characters; 0: the file as a whole. */
struct place {
	const struct source *source;
	unsigned int line, column;
};

/*
 * Reads a regular file of at most SOURCE_SIZE_MAX bytes. The arena owns everything. -EISDIR: a
 * directory; -EINVAL: neither a file nor a directory; -EFBIG; -ENOMEM; or an error of open(2).
 */
int source_read(struct arena *a, const char *path, const char *name, struct source **ret_source);

/* The same, and adds the file to the search's inputs, if it has any. */
int source_read_input(struct arena *a, const char *path, const char *name,
		      const struct policy_search *search, struct source **ret_source);

/*
 * The path of a policy: `name` if it is a path, else NAME.yaml in the search directories. -ENOENT:
 * not found; -ENOMEM.
 */
int source_find(struct arena *a, const char *name, const struct policy_search *search,
		const char **ret_path);

/* The same for an include: relative to the including file, then in the search directories. */
int source_find_include(struct arena *a, const char *name, const struct source *from,
			const struct policy_search *search, const char **ret_path);

/*
 * Finds the first byte that policy text must not contain: NUL or malformed UTF-8. False: there is
 * none.
 */
bool source_find_bad_byte(const struct source *s, struct place *ret_place, bool *ret_nul);

/* Report a problem at a position; `hint` may be NULL. */
void report_error(struct diagnostics *d, const struct place *place, const char *hint,
		  const char *format, ...) _printf_(4, 5);
void report_warning(struct diagnostics *d, const struct place *place, const char *hint,
		    const char *format, ...) _printf_(4, 5);
void report_note(struct diagnostics *d, const struct place *place, const char *hint,
		 const char *format, ...) _printf_(4, 5);

#endif
