/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the end of a log says of one execution: for a writer that takes over from one that crashed.
 */
#ifndef CORDON_AUDIT_RECALL_H
#define CORDON_AUDIT_RECALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* A crash leaves its traces in the last records; this much is looked at, across segments. */
#define RECALL_WINDOW (1u << 20)

struct recall {
	bool started, ended;	/* has an execution-start, an execution-end record */
	uint64_t last_sequence; /* of its last event on record; 0: none */
};

/* Numbers of events that are on record, or in a gap that is: `first` to `last`, in any order. */
typedef void (*recall_visitor)(uint64_t first, uint64_t last, void *context);

/* The end of a log, read once for all executions that are asked about. */
struct recall_window;

/* -ENOMEM, or what reading the files gave. */
int recall_read(const char *directory, struct recall_window **ret_window);
void recall_window_free(struct recall_window *window);
DEFINE_CLEANUP(struct recall_window *, recall_window_free, recall_window_freep)

/*
 * `id`: as records write it. All false and 0 where there is nothing of it. `visit` may be NULL.
 */
void recall_find(const struct recall_window *window, const char *id, recall_visitor visit,
		 void *context, struct recall *ret_recall);

/* Both, for one. */
int recall_execution(const char *directory, const char *id, recall_visitor visit, void *context,
		     struct recall *ret_recall);

#endif
