/* SPDX-License-Identifier: Apache-2.0 */
/* The shared state of the files that parse records. */
#ifndef CORDON_INSIGHT_RECORDING_STATE_H
#define CORDON_INSIGHT_RECORDING_STATE_H

#include "insight/recording/recording.h"

struct recording {
	struct arena *arena;
	json_t *records;  /* start records; runs point into them */
	json_t *programs; /* by run and process */
	json_t *pids;	  /* by run and pid: of the execution's processes */
	json_t *indices;  /* of runs by id */
	void *tree;	  /* of struct node, ordered by the distinguishing members of an access */
	struct recorded_run *runs;
	size_t run_count, run_capacity;
	struct recorded_access *accesses;
	size_t access_count, access_capacity;
};

/* Copies a string for the lifetime of the recording; "" for NULL. Returns NULL if out of memory. */
const char *recording_copy(struct recording *r, const char *text);

/*
 * Returns a string member of an object, or its exact bytes if it was not valid text. Returns 0 or
 * -ENOMEM.
 */
int recording_bytes(struct recording *r, const json_t *object, const char *key,
		    const char **ret_bytes, size_t *ret_size);

/* Returns the number below `count` with this name, or `count`. */
uint32_t recording_find_name(const char *(*name_of)(uint32_t number), uint32_t count,
			     const char *name);

/* Sets kind, text and check input of an access with operation and reason. Returns 0 or -ENOMEM. */
int recording_object(struct recording *r, const struct recorded_run *run, const json_t *record,
		     struct recorded_access *a);

#endif
