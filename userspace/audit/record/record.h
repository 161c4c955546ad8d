/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audit records: one JSON object each, one schema. Made from what the daemon knows of an
 * execution and from kernel events. Pure: no clock, no file, no global state.
 *
 * Field names follow the Elastic Common Schema where it has one (process.pid, file.path,
 * event.action, user.id, ...); cordon's own are below "cordon". docs/audit.md describes them.
 */
#ifndef CORDON_AUDIT_RECORD_H
#define CORDON_AUDIT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/abi.h"
#include "policy/core/compiled.h"

/* Where the code of an execution came from; its digest is recorded, its text never. */
enum audit_code_source {
	AUDIT_CODE_NONE,     /* the command is a program, not an interpreter with code */
	AUDIT_CODE_FILE,     /* a script file */
	AUDIT_CODE_ARGUMENT, /* -c, -e and the like */
	AUDIT_CODE_STDIN,
};

struct audit_code {
	enum audit_code_source source;
	char *path;	  /* AUDIT_CODE_FILE: absolute path of the script, else NULL */
	bool have_digest; /* standard input: known only at the end */
	unsigned char digest[32];
	uint64_t length;
	uint64_t changed; /* the hashed file's last change (ctime), ns since the epoch */
	uint64_t names[CORDON_CODE_NAMES]; /* name_hash() of what it may be asked for by; 0: none */
	/* Known at the end, where it is in a file: */
	bool watched;
	uint64_t opens;			 /* that found it as it was hashed */
	struct cordon_file_state opened; /* what was opened in its place; inode 0: nothing */
};

#define AUDIT_STARTERS_MAX 8u

/* A process that started an execution, or one above it. */
struct audit_starter {
	uint32_t pid;
	uint64_t started; /* ns since the epoch, as exact as /proc is */
	char *name;	  /* of its command; chosen by it */
	char *program;	  /* NULL: not known */
	bool have_arguments;
	unsigned char arguments_digest[32]; /* SHA-256 of the NUL-terminated argument strings */
};

/* All AUDIT_STARTERS_MAX of an array, those that are all zero as well; NULL: nothing. */
void audit_starters_free(struct audit_starter *starters);

/* The container that an execution is in, as its engine says; what is not known is NULL. */
struct audit_container {
	char *id;
	char *name;
	char *image;	/* as whoever made the container called it */
	char *image_id; /* the digest of its configuration, as a rule behind "sha256:" */
};

void audit_container_release(struct audit_container *container);

/* What every record of an execution says about it. Strings may be NULL unless said otherwise. */
struct audit_execution {
	unsigned char id[16];
	char *session;
	char *agent;
	char *executor; /* never NULL: "cordon-run", "autogen", ... */
	char *language;
	char *traceparent;  /* one that trace_context_parse() takes */
	char *conversation; /* of the model's, as the caller says */
	char *workdir;	    /* never NULL: absolute */
	char *program;	    /* never NULL: argv[0] as given, before resolution */
	size_t argument_count;
	unsigned char arguments_digest[32]; /* SHA-256 of the NUL-terminated argument strings */
	uint64_t arguments_length;
	/*
	 * NULL, or argument_count strings of which NULL entries carried code. Only shown
	 * if the policy says `arguments: full`.
	 */
	char **arguments;
	struct audit_code code;
	const struct compiled_policy *policy; /* never NULL; not owned */
	struct policy_limits limits;	      /* in force: the policy's, lowered by options */
	bool observe;
	/* Wall clock minus boot clock, ns, when it started; 0: not known. */
	uint64_t clock_offset;
	struct audit_container container; /* `id` NULL: none */
	uint32_t uid, gid;
	bool have_login;
	uint32_t login_uid;		/* whom who started it was logged in as */
	struct audit_starter *starters; /* nearest first; NULL: not known */
	size_t starter_count;
	/*
	 * What the policy's variables stand for: name, path, name, path, ...; NULL-terminated, or
	 * NULL
	 */
	char **directories;
	char **environment_kept;      /* names, NULL-terminated, or NULL */
	char **environment_removed;   /* names, NULL-terminated, or NULL */
	uint64_t environment_unnamed; /* how many more were removed, whose names are not known */
	char **descriptors; /* open from before and not granted: "5: /etc/shadow (read)"; or NULL */
	/*
	 * Protected names that lead elsewhere, and where that is denied, too: three texts each, see
	 * launch/indirections.h; and sentences on what is not. NULL-terminated, or NULL.
	 */
	char **indirections, **unresolved;
	char **limits_missing; /* limits that this host cannot apply: "cpu: no controller" */
};

enum audit_end_cause {
	AUDIT_END_EXITED,
	AUDIT_END_SIGNALED,
	AUDIT_END_TIMEOUT,
	AUDIT_END_DENIALS,     /* the policy's on_denial limit */
	AUDIT_END_OWNER_GONE,  /* `cordon run` died */
	AUDIT_END_KILLED,      /* cordon kill, or cordon told to stop */
	AUDIT_END_RECOVERED,   /* found orphaned when cordon started */
	AUDIT_END_NOT_STARTED, /* exec failed */
	AUDIT_END_CANCELLED,   /* whoever started it asked it to end, and its grace was over */
};

/* Limits and filters that an execution's processes ran into. */
enum audit_limit {
	AUDIT_LIMIT_MEMORY,	  /* a process was killed for want of memory */
	AUDIT_LIMIT_PIDS,	  /* a fork failed */
	AUDIT_LIMIT_CPU_TIME,	  /* SIGXCPU */
	AUDIT_LIMIT_FILE_SIZE,	  /* SIGXFSZ */
	AUDIT_LIMIT_SYSTEM_CALLS, /* SIGSYS */
	AUDIT_LIMIT_COUNT,
};

struct audit_end {
	enum audit_end_cause cause;
	uint32_t limits; /* bits by enum audit_limit */
	bool have_status;
	int status; /* as wait(2) reports it, if have_status */
	uint64_t duration_nsec;
	uint64_t clock_offset; /* wall clock minus boot clock at its end; 0: not known */
	uint64_t killed_tasks; /* what was still alive at the end and was killed */
	uint64_t attempts;     /* on record; the kernel does not count them */
	/* resource use; have_* false: this host cannot tell */
	bool have_cpu, have_memory, have_pids;
	uint64_t user_nsec, system_nsec;
	uint64_t memory_peak_bytes, oom_kills, pids_peak;
	/* kernel counters, copied from struct cordon_execution */
	uint64_t events, denials, would_denials, forks, execs;
	uint64_t coalesced, dropped, limited, unresolved, last_sequence;
	uint64_t bytes_sent, bytes_received, packets_sent, packets_received, packets_denied;
};

/*
 * By how much the wall clock was set since the execution started, ns: `clock_offset` is what it is
 * ahead of the boot clock now. 0: it was not, or that is not known.
 */
int64_t audit_clock_step(const struct audit_execution *execution, uint64_t clock_offset);

/*
 * Each returns a new reference, or NULL without memory. `time` is the wall clock in ns since the
 * epoch, `boot_offset` what to add to CLOCK_BOOTTIME to get it.
 */
json_t *audit_record_start(const struct audit_execution *execution, uint64_t time);
json_t *audit_record_end(const struct audit_execution *execution, const struct audit_end *end,
			 uint64_t time);

/*
 * From one kernel event; `size` bytes at `data` come from a ring and are not trusted to be well
 * formed.
 *
 * -EBADMSG: not a well-formed event, *ret_record unset; -ENODATA: an event that makes no record
 * (CORDON_EVENT_LABEL, CORDON_EVENT_EMPTY, CORDON_EVENT_ASKED); -ENOMEM.
 */
int audit_record_event(const struct audit_execution *execution, const void *data, size_t size,
		       uint64_t boot_offset, json_t **ret_record);

/* Events missing between two sequence numbers of one execution, both exclusive. */
json_t *audit_record_gap(const struct audit_execution *execution, uint64_t after, uint64_t before,
			 uint64_t time);

/* Another policy for a running execution, and who wanted it. */
struct audit_policy_change {
	const struct compiled_policy *policy; /* from here on; `execution` says until now */
	const char *reason;		      /* why it may allow more, or NULL */
	char *const *wider;		      /* what it allows besides, NULL-terminated; or NULL */
	uint32_t pid, uid;		      /* of the process that asked */
	bool have_login;
	uint32_t login_uid; /* whom it was logged in as, whatever it became then */
};

json_t *audit_record_policy_change(const struct audit_execution *execution,
				   const struct audit_policy_change *change, uint64_t time);

/* Addresses that an execution was given for a name, and until when they stand for it. */
struct audit_resolution {
	const char *name;
	char *const *addresses; /* as text, NULL-terminated */
	uint64_t until;		/* ns since 1970 */
};

json_t *audit_record_resolution(const struct audit_execution *execution,
				const struct audit_resolution *resolution, uint64_t time);

/*
 * cordon itself: "start", "stop", "recover", "load", "unload", with free details (may be NULL; the
 * record takes its own reference).
 */
json_t *audit_record_agent(const char *action, json_t *details, uint64_t time);

/*
 * A launch that was refused before anything ran: bad policy, bad work directory, ... `what` is
 * the text the caller was given.
 */
json_t *audit_record_refused(const char *policy, const char *what, uint32_t uid, uint64_t time);

#endif
