/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the index of a log and keeps it up to date: DIRECTORY/index.sqlite. The log is the truth;
 * what disagrees with it, or is damaged, is built anew.
 */
#ifndef CORDON_AUDIT_INDEX_H
#define CORDON_AUDIT_INDEX_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/read/archive.h"
#include "audit/search/index_file.h"

struct index_result {
	uint64_t added;	  /* records that came into the index now */
	uint64_t records; /* in it, all segments together */
	uint64_t bytes;	  /* of the log that were read for it */
	uint64_t skipped; /* lines that are no records */
	bool built;	  /* anew, because of: */
	const char *why;
};

struct index_progress {
	void (*tell)(void *data, uint64_t done, uint64_t all); /* bytes; may be NULL */
	void *data;
	const volatile sig_atomic_t *stop; /* once it is not 0, -ECANCELED; may be NULL */
};

/*
 * Takes in what was written since the last time. With `rebuild`, from nothing; with `check`, all of
 * the
 * index is looked at first. One at a time per log, others wait.
 * -ENOENT: no log; -EACCES, -EROFS: no index can be written there; -ECANCELED: stopped, and the
 * index is as it was; -ENOSPC, -EIO, -ENOMEM.
 */
int index_update(const char *directory, bool rebuild, bool check,
		 const struct index_progress *progress, struct index_result *ret_result,
		 struct failure *failure);

/*
 * Where this segment stands in the index. -ENOENT: not in it; -ENODATA: it has no line yet;
 * -ESTALE: the segment's text is not what was indexed.
 */
int index_locate(struct index_file *file, struct audit_archive *archive, size_t number,
		 struct index_segment *ret_segment);

#endif
