/* SPDX-License-Identifier: Apache-2.0 */
/* The options and the last line of output that all queries have in common. */
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
	const char *fleet; /* a fleet.yaml; NULL: the default one, if it exists */
	bool json;
	uint64_t silent_after; /* ns */
};

#define FLEET_OPTION_FIRST  512
#define FLEET_OPTIONS_COUNT 6
extern const struct option fleet_options_table[FLEET_OPTIONS_COUNT];
extern const char fleet_options_help[];

void fleet_options_init(struct fleet_options *options);
/* Returns 0, -EINVAL after a message, or -ENOENT if it is none of these options. */
int fleet_options_take(struct fleet_options *options, int option, const char *value);

/* The opened sources of a query. */
struct fleet_view {
	struct rows *rows;
	struct config_fleet *fleet;
	struct clickhouse *clickhouse; /* NULL: not configured */
	struct host_states states;
	struct completeness completeness;
};

/* Opens the store. Returns 0, or -ERRNO after a message on standard error. */
int fleet_view_open(const struct fleet_options *options, struct fleet_view *ret_view);
void fleet_view_close(struct fleet_view *view);

/*
 * Prints how complete the result is: the last line of every query's output. With --json as
 * {"completeness": ...}.
 */
void fleet_view_finish(const struct fleet_view *view, const struct fleet_options *options,
		       const struct style *style);

/* Parses a decimal integer from 1 to `most`. */
bool fleet_options_number(const char *value, unsigned long most, uint64_t *ret_number);
/* Parses the option --since; the result is in UTC. Returns 0, or -EINVAL after a message. */
int fleet_options_since(const char *value, char ret_since[CLOCK_TEXT_SIZE]);

#define FLEET_OWN_OPTIONS_MAX 20u

/* A command with additional options. */
struct fleet_command {
	const char *name, *help;
	const struct option *own;
	size_t count; /* at most FLEET_OWN_OPTIONS_MAX */
	/* Returns 0, -EINVAL after a message, or -ENOENT if it is none of its options. */
	int (*take)(void *context, int option, const char *value);
	void *context;
	const char *own_help; /* printed after `help`; NULL: none */
};

/*
 * Parses options. Returns -1 to continue with the arguments from optind, otherwise the exit status.
 */
int fleet_options_read(struct fleet_options *options, const struct fleet_command *command, int argc,
		       char **argv);

/* As fleet_options_read(), for commands without arguments. */
int fleet_options_only(struct fleet_options *options, const struct fleet_command *command, int argc,
		       char **argv);

/* For commands without arguments and without additional options. */
int fleet_options_parse(struct fleet_options *options, const char *name, const char *help, int argc,
			char **argv);

#endif
