/* SPDX-License-Identifier: Apache-2.0 */
/* The options and the closing line that all questions to a store have in common. */
#ifndef CORDON_FLEET_OPTIONS_H
#define CORDON_FLEET_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"
#include "fleet/ask/host_states.h"
#include "fleet/clickhouse/client.h"
#include "fleet/clickhouse/settings.h"
#include "fleet/store/rows.h"
#include "insight/text/style.h"

struct fleet_options {
	const char *store, *expected;
	const char *fleet; /* a fleet.yaml; NULL: the usual one, if it is there */
	bool json;
	uint64_t silent_after; /* ns */
};

#define FLEET_OPTION_FIRST  512
#define FLEET_OPTIONS_COUNT 6
extern const struct option fleet_options_table[FLEET_OPTIONS_COUNT];
extern const char fleet_options_help[];

void fleet_options_init(struct fleet_options *options);
/* -EINVAL: it was said why; -ENOENT: not one of these. */
int fleet_options_take(struct fleet_options *options, int option, const char *value);

/* What answers are made of. */
struct fleet_view {
	struct rows *rows;
	struct config_fleet *fleet;
	struct clickhouse *clickhouse; /* NULL: none is configured */
	struct host_states states;
	struct completeness completeness;
};

/* *failure was said on standard error when it fails. */
int fleet_view_open(const struct fleet_options *options, struct fleet_view *ret_view);
void fleet_view_close(struct fleet_view *view);

/* What every answer ends with. With JSON on a line of its own: {"completeness": ...}. */
void fleet_view_finish(const struct fleet_view *view, const struct fleet_options *options,
		       const struct style *style);

/* A whole number from 1 to `most`, in plain digits. */
bool fleet_options_number(const char *value, unsigned long most, uint64_t *ret_number);
/* The time of an option --since as UTC. -EINVAL: it was said why. */
int fleet_options_since(const char *value, char ret_since[CLOCK_TEXT_SIZE]);

#define FLEET_OWN_OPTIONS_MAX 20u

/* A command that has options of its own besides. */
struct fleet_command {
	const char *name, *help;
	const struct option *own;
	size_t count; /* FLEET_OWN_OPTIONS_MAX at most */
	/* 0; -EINVAL: it was said why; -ENOENT: not one of them. */
	int (*take)(void *context, int option, const char *value);
	void *context;
	const char *own_help; /* follows `help`, where that is written down elsewhere */
};

/* -1: go on, with the arguments from optind; else the status to exit with. */
int fleet_options_read(struct fleet_options *options, const struct fleet_command *command, int argc,
		       char **argv);

/* As fleet_options_read(), for commands that take no arguments. */
int fleet_options_only(struct fleet_options *options, const struct fleet_command *command, int argc,
		       char **argv);

/* For commands that have no other options and no arguments. */
int fleet_options_parse(struct fleet_options *options, const char *name, const char *help, int argc,
			char **argv);

#endif
