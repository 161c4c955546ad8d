/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The closed segments of a log: files named by the `seq` of their first record, twenty digits wide,
 * so that their names sort as their records do. NNN.jsonl, or NNN.jsonl.gz once compressed.
 */
#ifndef CORDON_AUDIT_SEGMENTS_H
#define CORDON_AUDIT_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define SEGMENTS_NAME_SIZE (20 + sizeof(".jsonl.gz"))

struct segments_entry {
	uint64_t first; /* seq of its first record, as its name says */
	bool compressed;
	bool both; /* there is an uncompressed one of the same name: it was not removed yet */
};

struct segments {
	struct segments_entry *entries; /* ascending, each first once; the uncompressed one wins */
	size_t count;
};

/* -ENOENT, -ENOTDIR, ...: as opendir(3) and readdir(3); -ENOMEM. */
int segments_list(const char *directory, struct segments *ret_segments);
void segments_free(struct segments *segments);

void segments_name(uint64_t first, bool compressed, char name[SEGMENTS_NAME_SIZE]);
/* Is it the name of a closed segment? */
bool segments_parse_name(const char *name, uint64_t *ret_first, bool *ret_compressed);

#endif
