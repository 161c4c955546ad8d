/* SPDX-License-Identifier: Apache-2.0 */
/* The common state of all steps of learning a policy. The arena owns everything. */
#ifndef CORDON_INSIGHT_LEARN_STATE_H
#define CORDON_INSIGHT_LEARN_STATE_H

#include "insight/learn/learn.h"
#include "insight/learn/learn_tree.h"

enum learn_fate {
	LEARN_WANTED,	  /* to be allowed */
	LEARN_CREDENTIAL, /* left out by choice */
	LEARN_IMPOSSIBLE, /* no policy can allow it */
	LEARN_REFUSED,	  /* it did not happen */
	LEARN_DENIED,	  /* a rule of the policy to amend denies it */
	LEARN_SETTLED,	  /* of no concern: it went ahead, or is allowed by now */
};

/* Names below one variable. */
struct learn_scope {
	const char *variable; /* "": below the root, "@": objects without a name */
	struct learn_node *tree;
	struct learn_scope *next;
};

struct learn_fragment {
	const char *name;
	struct compiled_policy *policy;
	struct evidence evidence; /* accesses that it covers */
	size_t covers;
	bool chosen;
	struct learn_fragment *next;
};

/* A destination, or several with the same rights. */
struct learn_address {
	unsigned char family, protocol;
	const char *host; /* replaces the address, or NULL */
	unsigned char address[16];
	unsigned int prefix;
	uint16_t low, high; /* ports */
	uint32_t rights;
	struct evidence evidence;
	struct learn_address *next;
};

struct learn_socket {
	unsigned char family, type;
	uint16_t protocol;
	struct evidence evidence;
	struct learn_socket *next;
};

/* One word of the section `process`. */
struct learn_setting {
	enum access_kind kind;
	uint64_t number; /* of the capability */
	struct evidence evidence;
	struct learn_setting *next;
};

struct learning {
	struct arena *arena;
	const struct learn_options *options;
	/* To be amended, with the settings that the amending file has; NULL: learn a policy. */
	const struct compiled_policy *amended;
	bool temporary;	       /* the amending file sets `temporary: own` */
	bool loopback_guessed; /* of a socket that was denied no address is known */
	const struct recorded_run *runs;
	size_t run_count;
	const struct recorded_access *accesses;
	size_t access_count;
	enum learn_fate *fates;
	uint32_t *missing; /* per access: rights that no chosen fragment grants */
	uint32_t *moved;   /* per run: rights on every name that was moved */
	json_t *created;   /* per run and path: the run made it */
	json_t *moves;	   /* per run and path: the run moved it, from or to there */
	json_t *links;	   /* per run and path: a symbolic link that rules below it keep away */
	struct learn_fragment *fragments;
	struct learn_scope *scopes;
	struct learn_node *abstract; /* unix sockets: each child a name */
	struct learn_address *addresses;
	struct learn_socket *sockets;
	struct learn_setting *settings;
	struct diagnostics *diagnostics;
};

struct evidence learn_evidence(const struct recorded_access *a);

/* True if the run moved or linked an object from or to the name. Requires learn_paths(). */
bool learn_is_moved(const struct learning *l, const struct recorded_access *a);

/*
 * Marks a symbolic link that the policy so far does not allow, so that learn_paths() adjusts the
 * rules below it. 1: marked; 0: this was already tried; -ENOMEM.
 */
int learn_mark_link(const struct learning *l, const struct recorded_access *a);

/*
 * Fills `fates` and `missing` where a policy is amended: only denials are wanted. `credentials`:
 * the policy that denies them, or NULL.
 */
int learn_denials(struct learning *l, const struct compiled_policy *credentials);

/* Chooses fragments and fills `fates` and `missing`. -EINVAL, -ENOMEM. */
int learn_fragments(struct learning *l);
void learn_fragments_release(struct learning *l);

/* Builds the trees (also when called again), the addresses and the settings. -ENOMEM. */
int learn_paths(struct learning *l);
int learn_network(struct learning *l);

/* A text as YAML has it, in quotes. */
void learn_put_scalar(FILE *out, const char *text);

/*
 * The policy as YAML, with the sockets found to be missing so far; `counts` may be NULL for what
 * amends one. NULL: no memory.
 */
char *learn_write(const struct learning *l, const struct learned *counts);

#endif
