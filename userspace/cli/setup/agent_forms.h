/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agents that `cordon setup` finds: one row for each form of installation, with the place
 * of the program and the entry of cordon.yaml that confines it. Data only.
 */
#ifndef CORDON_CLI_AGENT_FORMS_H
#define CORDON_CLI_AGENT_FORMS_H

#include <stdbool.h>
#include <stddef.h>

/* The program of the running process, which an entry has to match. */
enum agent_process {
	AGENT_PROGRAM, /* the ELF program that is installed */
	AGENT_NODE,    /* node, with a script as argument */
	AGENT_PYTHON,  /* Python, with a script as argument */
	AGENT_LIBRARY, /* Python, with a script of the user's that imports the library */
	AGENT_RUNTIME, /* the runtime of containers */
};

/* Where `path` is looked for. */
enum agent_place {
	AGENT_IN_HOME,	      /* below each home directory */
	AGENT_IN_SYSTEM,      /* below / */
	AGENT_IN_MODULES,     /* below each node_modules of global packages */
	AGENT_IN_ENVIRONMENT, /* below each Python environment */
};

struct agent_form {
	const char *agent; /* the first part of the entry's name */
	const char *title; /* for people */
	enum agent_process process;
	enum agent_place place;
	const char *path; /* glob; `*` stays within one component */
	/* Pattern for an argument of node or Python; NULL: none. */
	const char *argument;
	/* The entry matches all of `path`: the program's name has its version. */
	bool versions;
	/* The agent starts its own program again for its own work: no agent code. */
	bool again;
	bool session; /* kind: session */
	const char *policy;
	const char *itself; /* policy of the agent's own process; NULL: none is shipped */
	const char *other;  /* further program of the host that a container runtime starts */
};

extern const struct agent_form agent_forms[];
extern const size_t agent_form_count;

/* Globs below a home directory, and below /, NULL-terminated. */
extern const char *const agent_home_modules[], *const agent_system_modules[];
extern const char *const agent_home_environments[], *const agent_system_environments[];

#endif
