/* SPDX-License-Identifier: Apache-2.0 */
/* A file for node_exporter's textfile collector, replaced atomically. */
#ifndef CORDON_WATCH_TEXTFILE_H
#define CORDON_WATCH_TEXTFILE_H

#include <stddef.h>

#include "base/failure.h"

struct textfile {
	int directory_fd; /* -1: no textfile */
	const char *name; /* in the directory */
	const char *path; /* for messages */
};

#define TEXTFILE_INIT {.directory_fd = -1}

/*
 * Opens the file's directory. `path` must outlive *ret_file. Returns 0, -EINVAL if the name does
 * not end in ".prom", because the collector would ignore it, or the -ERRNO of opening the
 * directory.
 */
int textfile_open(const char *path, struct textfile *ret_file, struct failure *failure);

/* Writes with mode 0644, because the collector runs as another user. Returns 0 or -ERRNO. */
int textfile_write(const struct textfile *file, const char *text, size_t size,
		   struct failure *failure);

/* Removes the file, because the collector would report old values forever. */
void textfile_remove(const struct textfile *file);

void textfile_close(struct textfile *file);

#endif
