/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the life of an execution that the kernel made of an executor's child differs from that of
 * one somebody asked for. daemon/executor/ does it; what is here is all that the life knows of it.
 */
#ifndef CORDON_DAEMON_ADOPTED_CALLS_H
#define CORDON_DAEMON_ADOPTED_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/abi.h"

struct daemon;
struct execution;

struct adopted_calls {
	/*
	 * An event of an execution that the daemon does not know yet. True: it does now, or the
	 * event tells of a refusal; false: the slot is of no executor's.
	 */
	bool (*event)(struct daemon *daemon, const struct cordon_event *event, size_t size);
	/*
	 * Before any other record of an adopted one: events can come before the program is in
	 * place.
	 */
	void (*need_start)(struct execution *e);
	/* Variables of its environment were overwritten: which. */
	void (*environment)(struct execution *e, const struct cordon_event *event, size_t size);
	/* Its program is in place. Does what comes before its first instruction, and lets it go. */
	void (*begin)(struct execution *e);
	/* The event that the first process of an adopted one has ended. */
	void (*exit)(struct execution *e, const struct cordon_exit_event *event);
	/*
	 * What is on record of one that an earlier daemon began, or that was adopted while there
	 * was none, is known (recovery_work.h).
	 */
	void (*recovered)(struct execution *e);
	/* For the end of any life: what it is watched by. */
	void (*release)(struct execution *e);
};

#endif
