/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/cordon/cordon.yaml: which programs of this host start agent code, and under which policy it
 * runs; and what is on record whatever a policy says. Read as policies are, with the same
 * diagnostics. Pure but for reading the file: whether the paths that it names exist is for whoever
 * puts it into force.
 */
#ifndef CORDON_CONFIG_CONFIG_H
#define CORDON_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "policy/source/diagnostic.h"

#define CONFIG_FILE	     "/etc/cordon/cordon.yaml"
#define CONFIG_EXECUTORS_MAX 32u /* those for executors themselves included; half the kernel's */
#define CONFIG_PATH_MAX	     238u
#define CONFIG_PATTERN_MAX   64u

enum config_kind {
	CONFIG_PER_RUN,	  /* one exec, one execution: AutoGen, AG2, shells */
	CONFIG_SESSION,	  /* a long-lived process: Jupyter kernels */
	CONFIG_CONTAINER, /* what enters a container: the executor is its runtime */
};

/* For whoever approves: what an execution does to this host lasts, or goes with it. */
enum config_stage {
	CONFIG_PRODUCTION,
	CONFIG_EPHEMERAL,
};

/* Where the name of the agent comes from. */
enum config_agent_source {
	CONFIG_AGENT_LITERAL,
	CONFIG_AGENT_VARIABLE, /* of the executor's environment */
	CONFIG_AGENT_CGROUP,   /* the last component of the executor's */
};

enum config_away {
	CONFIG_AWAY_DENY,	  /* without a daemon the executor's children cannot exec */
	CONFIG_AWAY_ENFORCE_ONLY, /* they are confined; records come when the daemon does */
};

/* Lists are NULL-terminated and never NULL; strings may be NULL unless said otherwise. */
struct config_executor {
	const char *name; /* never NULL */
	unsigned int line;
	/* match: which processes are the executor */
	const char *executable; /* never NULL; absolute; a `*` is any text of a component */
	const char *arguments;	/* pattern that one argument matches */
	const char *user;	/* name or number */
	const char *cgroup;	/* below the mount point of cgroup2 */
	/*
	 * children: which of those that it starts are agent code; all if neither is given. Of a
	 * container's runtime: what it may run on the host besides, as its hooks; itself, if it is
	 * one of these.
	 */
	const char **programs;	     /* only these */
	const char **except;	     /* all but these */
	const char *child_arguments; /* pattern that one argument matches */
	enum config_kind kind;
	const char *policy;    /* never NULL */
	uint64_t timeout_nsec; /* 0: the policy's */
	/* container: of its first program, until which the others can come and go */
	bool has_lifetime;
	uint64_t lifetime_nsec; /* 0: none */
	uint32_t grace_msec;	/* of what was asked to end; 0: it may go on for ever */
	const char **workdir_under;
	const char **volumes; /* container: directories of the host that may be mounted in it */
	const char **binds;   /* NAME, PATH, NAME, PATH, ...: the policy's own directories */
	const char **gate;    /* command that sees the code and may refuse it; [0] NULL: none */
	enum config_stage stage;
	enum config_agent_source agent_source;
	const char *agent; /* the name, or that of the variable */
	const char *session;
	enum config_away away;
	bool hold;
	bool has_grace; /* the file says which */
	bool no_input;	/* children come with /dev/null as standard input, or not at all */
	/*
	 * What the executor's own processes run under, or NULL. An entry by itself, with policy and
	 * binds of its own and a name that says so.
	 */
	struct config_executor *itself;
	bool is_itself; /* it is such a one */
};

struct config;

/*
 * -EINVAL: has errors, each in `diagnostics`; -ENOENT, -EACCES, ...: cannot be read (also in
 * `diagnostics`, unless it does not exist); -ENOMEM. Caller releases.
 */
int config_load(const char *path, struct diagnostics *diagnostics, struct config **ret_config);

/* The same from text in memory. */
int config_parse(const char *text, size_t size, const char *name, struct diagnostics *diagnostics,
		 struct config **ret_config);

void config_free(struct config *config);
DEFINE_CLEANUP(struct config *, config_free, config_freep)

size_t config_executor_count(const struct config *config);
const struct config_executor *config_executor_at(const struct config *config, size_t index);

/* What is on record of every execution at least: CORDON_AUDIT_* levels of opens and connects. */
uint32_t config_audit(const struct config *config);

/* Policies may be used once they are approved. */
bool config_require_approval(const struct config *config);
/* How long an embedded daemon stays without work; 0: as it is started. */
uint64_t config_idle_nsec(const struct config *config);
/* A user may approve what the same user proposed. */
bool config_own_approvals(const struct config *config);

/* The whole of it, as it was read. */
const char *config_text(const struct config *config, size_t *ret_size);

/* "per-run", ... and "production", ... */
const char *config_kind_name(enum config_kind kind);
const char *config_stage_name(enum config_stage stage);

#endif
