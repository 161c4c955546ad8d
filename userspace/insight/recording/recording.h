/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What executions accessed, taken from their records in order: each distinct access once, as the
 * question that the kernel asked of the policy.
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
	ACCESS_PATH,	 /* a resolved name; "self" stands for own processes below /proc */
	ACCESS_SPECIAL,	 /* "@anonymous", "@memfd" */
	ACCESS_NET,	 /* START_NET */
	ACCESS_SOCKET,	 /* START_SOCKET */
	ACCESS_ABSTRACT, /* a unix socket's name */
	ACCESS_HOST, /* a name that was looked up: START_NET at some port, for it is not known */
	ACCESS_CAPABILITY, /* `number` */
	ACCESS_SIGNAL,	   /* to processes outside the execution */
	ACCESS_TRACE,
	ACCESS_USERNS,
	ACCESS_OTHER, /* what no policy speaks of */
};

enum access_outcome {
	ACCESS_ALLOWED,
	ACCESS_OBSERVED, /* it went ahead, and enforcing would have refused it */
	ACCESS_REFUSED,
};

#define RECORDING_NO_ANSWER 0xffu

struct recorded_directory {
	const char *name; /* of the policy's variable */
	const char *path; /* without a slash at the end, "" for the root */
};

struct recorded_access {
	size_t run;
	uint64_t record; /* seq of the first record */
	uint64_t count;	 /* accesses, merged ones included */
	enum access_kind kind;
	enum access_outcome outcome;
	uint8_t operation; /* enum cordon_operation */
	uint32_t rights;   /* asked for, as far as they are on record: missing ones if refused */
	uint8_t reason;	   /* enum cordon_reason; RECORDING_NO_ANSWER for what was allowed */
	bool listing;	   /* the directory was to be listed; `bytes` ends without the slash */
	bool partial;	   /* the record has only part of the name, or no mount */
	bool temporary;	   /* ACCESS_PATH: judged as if it lay in ${tmp} as well */
	bool own_terminal; /* ACCESS_PATH: a pseudo-terminal that the execution made */
	bool own;	   /* ACCESS_TRACE: of a process of the same execution */
	const char *bytes; /* the question, with a NUL behind it */
	size_t size;
	const char *domain; /* ACCESS_NET: a name that the address stood for, or NULL */
	const char *named;  /* the question about that, and its size */
	size_t named_size;
	uint64_t number;
	const char *text;    /* as people read it */
	const char *program; /* file name of the program, or what the process calls itself */
};

struct recorded_run {
	const char *id;
	const char *program; /* as it was called */
	const char *policy, *policy_file, *policy_digest;
	uint64_t first, last; /* records */
	bool started, ended;  /* have their records */
	bool observed;
	bool ruled;    /* something was allowed by a rule: what rules allow is not all on record */
	uint64_t lost; /* events that did not reach the log */
	uint64_t duration_nsec, memory_peak_bytes, pids_peak;
	struct recorded_directory directories[CORDON_MAX_ANCHORS];
	size_t directory_count;
	const json_t *kept; /* names of variables, or NULL */
};

struct recording;

/* NULL: no memory. */
struct recording *recording_new(void);
void recording_free(struct recording *r);
DEFINE_CLEANUP(struct recording *, recording_free, recording_freep)

/*
 * Takes a record; those of other kinds and of no execution are passed over. -ENOMEM.
 */
int recording_add(struct recording *r, json_t *record);

/*
 * Takes the denials of a report of `cordon run --report`, with the place in the list as the number
 * of each record. -EINVAL: it is no such report; -ENOMEM.
 */
int recording_add_report(struct recording *r, const json_t *report);

/* In order of their first records. Borrowed. */
const struct recorded_run *recording_runs(const struct recording *r, size_t *ret_count);
const struct recorded_access *recording_accesses(const struct recording *r, size_t *ret_count);

/* The path of a run's variable, or NULL. */
const char *recorded_directory(const struct recorded_run *run, const char *name);

#endif
