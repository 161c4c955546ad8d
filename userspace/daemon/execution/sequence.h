/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events of an execution have arrived, by sequence number. The two rings are read one after
 * the other, so events come out of order; what is still missing when all was read is a gap.
 */
#ifndef CORDON_DAEMON_SEQUENCE_H
#define CORDON_DAEMON_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs of numbers that arrived; more holes than that at once are given up as gaps, oldest first. */
#define SEQUENCE_MAX_RUNS 64

/* Kinds of events that have numbers and are no records: see struct execution. */
#define EXECUTION_UNWRITTEN 3

struct sequence_run {
	uint64_t first, last;
};

struct sequence {
	struct sequence_run runs[SEQUENCE_MAX_RUNS]; /* ascending, not touching */
	size_t count;
	uint64_t settled; /* up to here all has arrived or was reported as a gap */
	bool anywhere;	  /* begin with the first number that arrives: others saw those before */
};

/* Numbers missing between two, both exclusive. */
typedef void (*sequence_gap_handler)(uint64_t after, uint64_t before, void *context);

/* A number arrived. Late ones, already reported as missing, change nothing. */
void sequence_add(struct sequence *sequence, uint64_t number, sequence_gap_handler handler,
		  void *context);

/* All from `first` to `last`. */
void sequence_add_range(struct sequence *sequence, uint64_t first, uint64_t last,
			sequence_gap_handler handler, void *context);

/* No more will come, and `last` was the last one assigned: reports every hole. */
void sequence_finish(struct sequence *sequence, uint64_t last, sequence_gap_handler handler,
		     void *context);

#endif
