/* SPDX-License-Identifier: Apache-2.0 */
/* How much of what the hosts have is in the store: what every answer ends with. Pure. */
#ifndef CORDON_FLEET_COMPLETENESS_H
#define CORDON_FLEET_COMPLETENESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/store/presence.h"

/* Records that are there although some before them are not: `first` to `last`. */
struct completeness_range {
	uint64_t first, last;
};

/*
 * How many are not there, of those up to the highest that is: all up to `contiguous` are, and
 * those in the ranges, which ascend by `first` and may overlap. *ret_highest may be NULL.
 */
uint64_t completeness_missing(uint64_t contiguous, const struct completeness_range *ranges,
			      size_t count, uint64_t *ret_highest);

/* A host, by all of its logs together. Moments in ns. */
struct completeness_host {
	char *host;	  /* its id; of one that was never heard: as it is expected */
	char *name;	  /* as the host calls itself, which proves nothing; NULL: not at all */
	char *expected;	  /* as the operator calls the host with this id; NULL: not at all */
	bool name_shared; /* another host is called like that */
	bool never_heard;
	uint64_t logs, contiguous, missing;
	uint64_t waiting; /* records that are there behind missing ones: no chain covers them */
	uint64_t gone;	  /* that were given up, and are not among the missing ones */
	uint64_t later;	  /* messages that are read when the host has its turn */
	uint64_t held;	  /* messages over a quota of it */
	uint64_t dropped; /* messages over all quotas */
	char *trouble;	  /* why a log of it cannot be opened; NULL */
	uint64_t last_heard;
	/*
	 * its clock is before the store's by so much; negative: behind, or records were on their
	 * way
	 */
	int64_t ahead;
	uint64_t apart;		  /* deliveries that did not fit */
	bool two_grow;		  /* two logs of it grow at once */
	char last_action[32];	  /* of its last record: "agent-stop" tells a stop from silence */
	struct presence presence; /* what its shipper said last, of itself and the daemon */
	bool sealed;		  /* there is a seal in the log that grew last */
	uint64_t unsealed;	  /* records behind it */
};

struct completeness {
	uint64_t now;
	uint64_t silent_after; /* heard of longer ago than this: silent */
};

/* What a host's records, and the word of its shipper, or that there is none, come to. */
enum completeness_condition {
	COMPLETENESS_FINE,
	COMPLETENESS_NEVER_HEARD,
	COMPLETENESS_REWRITTEN, /* its log is not as its shipper had read it */
	COMPLETENESS_DAEMON_KILLED,
	COMPLETENESS_DAEMON_STOPPED,  /* in order */
	COMPLETENESS_DAEMON_MUTE,     /* it is there, and nothing is recorded */
	COMPLETENESS_SHIPPER_STOPPED, /* it was told to leave */
	COMPLETENESS_SHIPPER_KILLED,
	COMPLETENESS_CUT_OFF, /* neither host nor network say anything */
	COMPLETENESS_SILENT,  /* and nothing is known about why */
	COMPLETENESS_CONDITION_COUNT,
};

enum completeness_condition completeness_condition(const struct completeness *c,
						   const struct completeness_host *host);
/* "daemon killed"; "" for COMPLETENESS_FINE. */
const char *completeness_condition_text(enum completeness_condition condition);

/* Nothing is recorded there, or it does not come here. */
bool completeness_is_silent(const struct completeness *c, const struct completeness_host *host);
bool completeness_is_complete(const struct completeness *c, const struct completeness_host *host);
/* "40 s", "5 min", "3 h", "2 d". */
void completeness_age(uint64_t nsec, char text[16]);
#define COMPLETENESS_NAME_SIZE 96u
/*
 * As the operator calls it, or as it calls itself, or what its id begins with; with that, where
 * another host is called the same.
 */
const char *completeness_name(const struct completeness_host *host,
			      char buffer[COMPLETENESS_NAME_SIZE]);

/*
 * "997 of 1,000 hosts complete to 40 s ago; web-7 silent since 03:11; db-2 lacks 1,204 records",
 * times local ones. Names in it are what hosts chose. Caller frees; NULL: no memory.
 */
char *completeness_text(const struct completeness *c, const struct completeness_host *hosts,
			size_t count);

/* The same as an object, a new reference, with all hosts that are not complete; NULL: no memory. */
json_t *completeness_json(const struct completeness *c, const struct completeness_host *hosts,
			  size_t count);

#endif
