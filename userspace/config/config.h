/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/cordon/cordon.yaml: the programs of this host that start agent code, the policies for that
 * code, and the minimum of logging. Parsed like a policy, with the same diagnostics. The parser
 * does not check whether the named paths exist; adopt/lookup.h does.
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
#define CONFIG_EXECUTORS_MAX 32u /* including executors with `itself`; half the kernel's limit */
#define CONFIG_PATH_MAX	     238u
#define CONFIG_PATTERN_MAX   64u

enum config_kind {
	CONFIG_PER_RUN,	  /* one exec, one execution: AutoGen, AG2, shells */
	CONFIG_SESSION,	  /* a long-lived process: Jupyter kernels */
	CONFIG_CONTAINER, /* processes that enter a container; the executor is the runtime */
};

/* For approvers: whether effects of an execution on this host persist. */
enum config_stage {
	CONFIG_PRODUCTION,
	CONFIG_EPHEMERAL,
};

/* Source of the agent's name. */
enum config_agent_source {
	CONFIG_AGENT_LITERAL,
	CONFIG_AGENT_VARIABLE, /* of the executor's environment */
	CONFIG_AGENT_CGROUP,   /* last component of the executor's cgroup */
};

enum config_away {
	CONFIG_AWAY_DENY,	  /* without a daemon the executor's children cannot exec */
	CONFIG_AWAY_ENFORCE_ONLY, /* confined without a daemon; logged when it starts */
};

/* Lists are NULL-terminated and never NULL. Strings may be NULL unless noted. */
struct config_executor {
	const char *name; /* never NULL */
	unsigned int line;
	/* match: the processes that are the executor */
	const char *executable; /* never NULL; absolute; `*` matches any text in a component */
	const char *arguments;	/* pattern for one argument */
	const char *user;	/* name or number */
	const char *cgroup;	/* below the mount point of cgroup2 */
	/*
	 * children: which child processes are agent code; all if neither list is given. For a
	 * container runtime: programs that it may also run on the host, such as hooks, or itself.
	 */
	const char **programs;	     /* only these */
	const char **except;	     /* all except these */
	const char *child_arguments; /* pattern for one argument */
	enum config_kind kind;
	const char *policy;    /* never NULL */
	uint64_t timeout_nsec; /* 0: the policy's */
	/* container: lifetime of its first program; other programs may start and end meanwhile */
	bool has_lifetime;
	uint64_t lifetime_nsec; /* 0: unlimited */
	uint32_t grace_msec;	/* after a request to end; 0: unlimited */
	const char **workdir_under;
	const char **volumes; /* container: host directories that may be mounted */
	const char **binds;   /* NAME, PATH, NAME, PATH, ...: bound directories of the policy */
	const char **gate;    /* command that inspects the code and may reject it; [0] NULL: none */
	enum config_stage stage;
	enum config_agent_source agent_source;
	const char *agent; /* the name, or its variable */
	const char *session;
	enum config_away away;
	bool hold;
	bool has_grace; /* the file has `grace` */
	bool no_input;	/* the standard input of children must be /dev/null */
	/*
	 * The entry for the executor's processes themselves, or NULL: separate, with its policy,
	 * binds and a derived name.
	 */
	struct config_executor *itself;
	bool is_itself; /* this is such an entry */
};

struct config;

/*
 * Loads the file. Returns 0, -EINVAL if it has errors, which are in `diagnostics`, the -ERRNO of
 * reading it (also in `diagnostics`, except -ENOENT), or -ENOMEM. The caller calls config_free().
 */
int config_load(const char *path, struct diagnostics *diagnostics, struct config **ret_config);

/* Parses text in memory. */
int config_parse(const char *text, size_t size, const char *name, struct diagnostics *diagnostics,
		 struct config **ret_config);

void config_free(struct config *config);
DEFINE_CLEANUP(struct config *, config_free, config_freep)

size_t config_executor_count(const struct config *config);
const struct config_executor *config_executor_at(const struct config *config, size_t index);

/*
 * Returns the minimum of logging for every execution: CORDON_AUDIT_* levels of opens and connects.
 */
uint32_t config_audit(const struct config *config);

/* True if policies require approval. */
bool config_require_approval(const struct config *config);
/* Returns how long an embedded daemon stays without work; 0: unspecified. */
uint64_t config_idle_nsec(const struct config *config);
/* True if a user may approve a proposal by the same user. */
bool config_own_approvals(const struct config *config);

/* Returns the text of the file. */
const char *config_text(const struct config *config, size_t *ret_size);

/* Return "per-run" etc. and "production" etc. */
const char *config_kind_name(enum config_kind kind);
const char *config_stage_name(enum config_stage stage);

#endif
