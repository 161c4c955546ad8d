/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines how much of the hosts' logs the store has. Every query's output ends with this. No
 * I/O.
 */
#ifndef CORDON_FLEET_COMPLETENESS_H
#define CORDON_FLEET_COMPLETENESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/store/presence.h"

/* Records `first` to `last`, which the store has although earlier ones are missing. */
struct completeness_range {
	uint64_t first, last;
};

/*
 * Returns the number of missing records below the highest stored one. The store has all records up
 * to `contiguous` and those in `ranges`, which are sorted by `first` and may overlap. *ret_highest
 * may be NULL.
 */
uint64_t completeness_missing(uint64_t contiguous, const struct completeness_range *ranges,
			      size_t count, uint64_t *ret_highest);

/* A host with all its logs. Times in ns. */
struct completeness_host {
	char *host;	  /* its ID; of a host that never sent anything: from --expect */
	char *name;	  /* as the host reports it, without proof; NULL: none */
	char *expected;	  /* the operator's name for this ID; NULL: none */
	bool name_shared; /* another host has the same name */
	bool never_heard;
	uint64_t logs, contiguous, missing;
	uint64_t waiting; /* records after missing ones: no chain covers them */
	uint64_t gone;	  /* records given up, not counted as missing */
	uint64_t later;	  /* messages queued until the host's next time slice */
	uint64_t held;	  /* messages over one of its quotas */
	uint64_t dropped; /* messages dropped over all quotas */
	char *trouble;	  /* why one of its logs cannot be opened; NULL: none */
	uint64_t last_heard;
	/* how far its clock is ahead of the store's; negative: behind, or records were delayed */
	int64_t ahead;
	uint64_t apart;		  /* quarantined deliveries */
	bool two_grow;		  /* two of its logs grow simultaneously */
	char last_action[32];	  /* of its last record: "agent-stop" is a regular stop */
	struct presence presence; /* the shipper's last presence message */
	bool sealed;		  /* the log that grew last has a seal */
	uint64_t unsealed;	  /* records after it */
};

struct completeness {
	uint64_t now;
	uint64_t silent_after; /* a host is silent if its last record is older */
};

/* The condition of a host, from its last record, its last presence message and its connection. */
enum completeness_condition {
	COMPLETENESS_FINE,
	COMPLETENESS_NEVER_HEARD,
	COMPLETENESS_REWRITTEN, /* the shipper found a modified log */
	COMPLETENESS_DAEMON_KILLED,
	COMPLETENESS_DAEMON_STOPPED,  /* regularly */
	COMPLETENESS_DAEMON_MUTE,     /* it runs, but no record arrives */
	COMPLETENESS_SHIPPER_STOPPED, /* by a signal */
	COMPLETENESS_SHIPPER_KILLED,
	COMPLETENESS_CUT_OFF, /* neither the host nor its network responds */
	COMPLETENESS_SILENT,  /* for an unknown reason */
	COMPLETENESS_CONDITION_COUNT,
};

enum completeness_condition completeness_condition(const struct completeness *c,
						   const struct completeness_host *host);
/* Returns a text like "daemon killed", or "" for COMPLETENESS_FINE. */
const char *completeness_condition_text(enum completeness_condition condition);

/* True if the host logs nothing, or its records do not arrive. */
bool completeness_is_silent(const struct completeness *c, const struct completeness_host *host);
bool completeness_is_complete(const struct completeness *c, const struct completeness_host *host);
/* Formats "40 s", "5 min", "3 h" or "2 d". */
void completeness_age(uint64_t nsec, char text[16]);
#define COMPLETENESS_NAME_SIZE 96u
/*
 * Returns the operator's name, else the name that the host reports, else the first characters of
 * the ID. A name shared by several hosts is followed by these characters.
 */
const char *completeness_name(const struct completeness_host *host,
			      char buffer[COMPLETENESS_NAME_SIZE]);

/*
 * Formats "997 of 1,000 hosts complete to 40 s ago; web-7 silent since 03:11; db-2 lacks 1,204
 * records", with local times. Names in it may be chosen by hosts. The caller frees the result; NULL
 * if out of memory.
 */
char *completeness_text(const struct completeness *c, const struct completeness_host *hosts,
			size_t count);

/* Returns the same as a new JSON object with all incomplete hosts; NULL if out of memory. */
json_t *completeness_json(const struct completeness *c, const struct completeness_host *hosts,
			  size_t count);

#endif
