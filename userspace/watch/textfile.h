/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file for node_exporter's textfile collector: whoever reads it finds the old text or the new
 * one, whole.
 */
#ifndef CORDON_WATCH_TEXTFILE_H
#define CORDON_WATCH_TEXTFILE_H

#include <stddef.h>

#include "base/failure.h"

struct textfile {
	int directory_fd; /* -1: there is no textfile */
	const char *name; /* in the directory */
	const char *path; /* for messages */
};

#define TEXTFILE_INIT {.directory_fd = -1}

/*
 * `path` must stay. -EINVAL: its name does not end in ".prom", and the collector would not read it;
 * or what opening its directory said.
 */
int textfile_open(const char *path, struct textfile *ret_file, struct failure *failure);

/* Mode 0644: the collector is another user. -errno of what failed. */
int textfile_write(const struct textfile *file, const char *text, size_t size,
		   struct failure *failure);

/* Removes it: what would stay is read as if it were true for ever. */
void textfile_remove(const struct textfile *file);

void textfile_close(struct textfile *file);

#endif
