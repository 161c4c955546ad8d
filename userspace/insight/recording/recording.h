/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accesses of executions, collected from their records in order. Each distinct access is stored
 * once, in the form of the kernel's policy check.
 */
#ifndef CORDON_INSIGHT_RECORDING_H
#define CORDON_INSIGHT_RECORDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "policy/core/arena.h"

enum access_kind {
	ACCESS_PATH,	   /* a resolved name; "self" replaces the execution's pids below /proc */
	ACCESS_SPECIAL,	   /* "@anonymous", "@memfd" */
	ACCESS_NET,	   /* START_NET */
	ACCESS_SOCKET,	   /* START_SOCKET */
	ACCESS_ABSTRACT,   /* a unix socket's name */
	ACCESS_HOST,	   /* a looked-up name: START_NET with an assumed port */
	ACCESS_CAPABILITY, /* `number` */
	ACCESS_SIGNAL,	   /* to processes outside the execution */
	ACCESS_TRACE,
	ACCESS_USERNS,
	ACCESS_OTHER, /* never decided by a policy */
};

enum access_outcome {
	ACCESS_ALLOWED,
	ACCESS_OBSERVED, /* permitted in observe mode; enforcement would deny it */
	ACCESS_REFUSED,
};

#define RECORDING_NO_ANSWER 0xffu

struct recorded_directory {
	const char *name; /* of the policy's variable */
	const char *path; /* without a final slash, "" for the root */
};

struct recorded_access {
	size_t run;
	uint64_t record; /* seq of the first record */
	uint64_t count;	 /* accesses, with merged ones */
	enum access_kind kind;
	enum access_outcome outcome;
	uint8_t operation;     /* enum cordon_operation */
	uint32_t rights;       /* requested rights as logged; for a denial the missing ones */
	uint8_t reason;	       /* enum cordon_reason; RECORDING_NO_ANSWER for permitted accesses */
	bool listing;	       /* the directory was listed; `bytes` has no final slash */
	bool partial;	       /* the record has only part of the name, or no mount */
	bool temporary;	       /* ACCESS_PATH: evaluated as if it were also in ${tmp} */
	bool own_terminal;     /* ACCESS_PATH: a pseudo-terminal that the execution made */
	bool case_insensitive; /* ACCESS_PATH: evaluated with each spelling in either case */
	bool own;	       /* ACCESS_TRACE: of a process of the same execution */
	const char *bytes;     /* the check's input, with a final NUL */
	size_t size;
	const char *domain; /* ACCESS_NET: a name of the address, or NULL */
	const char *named;  /* the check's input for that name, and its size */
	size_t named_size;
	uint64_t number;
	const char *text;    /* for display */
	const char *program; /* the program's file name, or the process's name */
};

struct recorded_run {
	const char *id;
	const char *program; /* as it was started */
	const char *policy, *policy_file, *policy_digest;
	uint64_t first, last; /* records */
	bool started, ended;  /* the records exist */
	bool observed;
	bool ruled;    /* a rule permitted an access: such accesses are not all logged */
	uint64_t lost; /* events missing in the log */
	uint64_t duration_nsec, memory_peak_bytes, pids_peak;
	struct recorded_directory directories[CORDON_MAX_ANCHORS];
	size_t directory_count;
	const json_t *kept; /* names of variables, or NULL */
};

struct recording;

/* Returns NULL if out of memory. */
struct recording *recording_new(void);
void recording_free(struct recording *r);
DEFINE_CLEANUP(struct recording *, recording_free, recording_freep)

/* Adds a record; skips records of other kinds or without an execution. Returns 0 or -ENOMEM. */
int recording_add(struct recording *r, json_t *record);

/*
 * Adds the denials of a report of `cordon run --report`. Each record's number is its place in the
 * list. Returns 0, -EINVAL if the object is no such report, or -ENOMEM.
 */
int recording_add_report(struct recording *r, const json_t *report);

/* Return the runs and accesses in the order of their first records, valid as long as `r`. */
const struct recorded_run *recording_runs(const struct recording *r, size_t *ret_count);
const struct recorded_access *recording_accesses(const struct recording *r, size_t *ret_count);

/* Returns the path of a run's variable, or NULL. */
const char *recorded_directory(const struct recorded_run *run, const char *name);

#endif
