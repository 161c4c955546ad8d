/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that take records apart share. */
#ifndef CORDON_INSIGHT_RECORDING_STATE_H
#define CORDON_INSIGHT_RECORDING_STATE_H

#include "insight/recording/recording.h"

struct recording {
	struct arena *arena;
	json_t *records;  /* start records, which runs borrow from */
	json_t *programs; /* by run and process */
	json_t *pids;	  /* by run and pid: of the execution's own processes */
	json_t *indices;  /* of runs by id */
	void *tree;	  /* of struct node, by what makes an access distinct */
	struct recorded_run *runs;
	size_t run_count, run_capacity;
	struct recorded_access *accesses;
	size_t access_count, access_capacity;
};

/* Lives as long as the recording; "" for NULL. NULL: no memory. */
const char *recording_copy(struct recording *r, const char *text);

/* A text member of an object, exact also where it was no text. -ENOMEM. */
int recording_bytes(struct recording *r, const json_t *object, const char *key,
		    const char **ret_bytes, size_t *ret_size);

/* The number below `count` that has the name; `count`: none, or there is no name. */
uint32_t recording_find_name(const char *(*name_of)(uint32_t number), uint32_t count,
			     const char *name);

/* Fills in kind, text and question of an access, whose operation and reason are set. -ENOMEM. */
int recording_object(struct recording *r, const struct recorded_run *run, const json_t *record,
		     struct recorded_access *a);

#endif
