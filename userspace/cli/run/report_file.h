/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --report: found unwritable before anything runs, emptied then, so that an earlier
 * run's report is never taken for this one's, and complete from the moment it has content.
 */
#ifndef CORDON_CLI_REPORT_FILE_H
#define CORDON_CLI_REPORT_FILE_H

#include <stdbool.h>

#include "base/failure.h"

struct report_file {
	int fd;		  /* -1: no report is wanted */
	int directory_fd; /* of the file */
	char *path;	  /* as it was given; NULL: a descriptor */
	char *name;	  /* in that directory */
	bool regular;	  /* written beside and renamed; descriptors and devices are written into */
	bool created;	  /* it was not there before */
};

#define REPORT_FILE_NONE {.fd = -1, .directory_fd = -1}

/*
 * Symbolic links are not followed, but for the system's own on the way (walk_directory()), and for
 * descriptors
 * (/dev/stdout, /dev/fd/3): code that ran before may have left one, to have root write elsewhere. A
 * FIFO is refused:
 * one that the code left would hold us up.
 * -ELOOP: a link; -EINVAL: something else than a regular file or a character device; -EISDIR,
 * -EACCES, ...: as open(2).
 */
int report_file_open(const char *path, struct report_file *ret_file, struct failure *failure);

/*
 * Copies all of `from`, which is at its start, once the code has ended. The path is walked anew, so
 * that the report is where it is looked for even if the code has put another directory in the place
 * of its directory. Where the path leads there no more, that is the failure: -ELOOP, -ENOENT, ...
 */
int report_file_write(struct report_file *file, int from, struct failure *failure);

/* Nothing ran: takes away the empty file if it was not there before. */
void report_file_discard(struct report_file *file);

void report_file_close(struct report_file *file);

#endif
