/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy as it is written, with its includes: the input of the compiler. The compilation's arena
 * owns everything.
 */
#ifndef CORDON_POLICY_MODEL_H
#define CORDON_POLICY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "policy/core/compiled.h"
#include "policy/source/source.h"

#define MODEL_RULES_MAX (CORDON_NO_RULE - 1u)

enum rule_kind {
	RULE_FILES,
	RULE_EXEC,
	RULE_UNIX,
	RULE_NETWORK, /* internet addresses and ports */
	RULE_SOCKET,  /* creation of sockets by family, type and protocol */
};

/* A path pattern or an abstract name. */
struct rule_name {
	const char *text;
	size_t size;
	struct place place;
	bool abstract;
};

/* All addresses with the same first `prefix` bits as `address` (network order). */
struct net_block {
	uint8_t family; /* 4 or 6 */
	uint8_t prefix;
	uint8_t address[16];
};

struct number_range {
	uint16_t low, high; /* inclusive */
};

struct rule {
	enum rule_kind kind;
	bool deny;
	uint32_t rights; /* CORDON_RIGHT() bits */
	struct place place;
	const char *severity, *message; /* or NULL */
	const char **tags;
	size_t tag_count;
	/* RULE_FILES, RULE_EXEC, RULE_UNIX */
	struct rule_name *names;
	size_t name_count;
	/* RULE_NETWORK; no blocks: every address, no ports: every port */
	struct net_block *blocks;
	size_t block_count;
	const char **hosts; /* names and name patterns; with any, no blocks mean no address */
	size_t host_count;
	struct number_range *ports;
	size_t port_count;
	/* RULE_NETWORK: IPPROTO_*; RULE_SOCKET: empty means every one */
	uint16_t *protocols;
	size_t protocol_count;
	/* RULE_SOCKET; no types: every type */
	uint16_t *families, *types;
	size_t family_count, type_count;
	/*
	 * RULE_FILES: `except` of an include takes back the rules that yield, the deny rules of the
	 * included file.
	 */
	bool except, yields;
	const char *except_from;
	bool has_rights, has_to;  /* for the reader: the keys that the rule has */
	struct place links_place; /* position of `links: shared`; line 0: the key is missing */
};

struct model {
	const char *name, *description;
	bool fragment;
	struct place fragment_place; /* position of `fragment` */
	bool observe;
	struct rule *except; /* the only one, NULL: there is none */
	struct rule **rules;
	size_t rule_count;
	const char *anchors[CORDON_MAX_ANCHORS]; /* names by number, NULL: unused */
	struct policy_limits limits;
	bool keep_given;
	struct place keep_place;
	const char **keep;
	size_t keep_count;
	const char **set_names, **set_values;
	size_t set_count; /* of both */
	uint32_t flags;	  /* CORDON_POLICY_* except OBSERVE */
	uint64_t capabilities;
	uint32_t audit;
	enum policy_arguments arguments;
	uint32_t denial_limit;
	uint32_t ask_msec;
	uint32_t log_rate; /* KiB per second; 0: the default */
	const char **run_by;
	size_t run_by_count;
};

#endif
