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
	int directory_fd; /* of the file; the path is never walked again after the run */
	char *name;	  /* in that directory */
	bool regular;	  /* written beside and renamed; pipes and devices are written into */
	bool created;	  /* it was not there before */
};

#define REPORT_FILE_NONE {.fd = -1, .directory_fd = -1}

/*
 * Symbolic links are not followed as the last component (outside /dev), nor anywhere below the
 * work directory: code that ran there before may have left one, to have root write elsewhere.
 * -ELOOP: that; -EISDIR, -EACCES, ...: as open(2).
 */
int report_file_open(const char *path, const char *workdir, int workdir_fd,
		     struct report_file *ret_file, struct failure *failure);

/* Copies all of `from`, which is at its start. */
int report_file_write(struct report_file *file, int from, struct failure *failure);

/* Nothing ran: takes away the empty file if it was not there before. */
void report_file_discard(struct report_file *file);

void report_file_close(struct report_file *file);

#endif
