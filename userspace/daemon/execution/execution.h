/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of one execution: prepared (slot, cgroup, directories), live (its first task carries the
 * label), ending (being killed), dead (nothing carries the label; the owner may still tell how
 * its command ended), finished (end record written, remains being removed).
 */
#ifndef CORDON_DAEMON_EXECUTION_H
#define CORDON_DAEMON_EXECUTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/record/record.h"
#include "base/failure.h"
#include "base/uuid.h"
#include "daemon/execution/context.h"
#include "daemon/peer/peer.h"
#include "daemon/policy/policies.h"
#include "daemon/privsep/writer_share.h"
#include "control/protocol.h"
#include "control/request.h"
#include "daemon/execution/log_budget.h"
#include "daemon/execution/reported.h"
#include "daemon/execution/sequence.h"

/* Denials kept for the report, which merges what is identical. */
#define EXECUTION_MAX_REPORTED 4096

enum execution_state {
	EXECUTION_PREPARED,
	EXECUTION_LIVE,
	EXECUTION_ENDING,
	EXECUTION_DEAD,
	EXECUTION_FINISHED,
};

/* What is still to be read of one that an earlier daemon began: see recovery_work.h. */
#define EXECUTION_UNREAD_LOG	1u
#define EXECUTION_UNREAD_POLICY 2u

struct compiling;
struct errand;
struct gate;
struct keeping;
struct log_recall;
struct question;
struct reporting;

/* Who asked for it, or whose executor's child it is. */
struct execution_owner {
	uid_t uid;   /* who may see and end it, besides root */
	bool member; /* that is not root: see member.h */
	pid_t pid;
	uint64_t start;
	void *connection;    /* NULL: it is gone */
	struct event *event; /* its pidfd, while it is watched without a connection */
};

/* Of one that the kernel made of an executor's child: nobody asked for it, nobody waits for it. */
struct execution_adoption {
	bool begun;	 /* it was looked at before its first instruction */
	bool fit;	 /* and was found to be in order: it may go on once its start is written */
	bool in_order;	 /* and goes on */
	bool unrecorded; /* its start cannot be written */
	bool owes_start; /* it is to be written before its end, once its log is read */
	bool unlooked;	 /* its start was written before its code was read */
	bool container_first; /* it is the program that a container begins with */
	bool left;	      /* it ended meanwhile */
	struct event *leader_event, *leader_timer;
	struct account *account;    /* of the user whose executor it is; NULL: root's */
	char **indirections;	    /* that were found, of its work directory */
	struct compiling *amending; /* the policy that has rules for them */
	struct keeping *keeping;    /* and is put beside the log */
	struct errand *look;	    /* while its code is read, by a process that has no `view`: */
	struct {
		uint32_t executor; /* entry's index */
		bool clean;	   /* the kernel has finished with its environment */
		bool held;
	} seen;
	struct gate *gate; /* while it is asked */
	/*
	 * Events whose records follow the start's: the exec that brought its program in, and what
	 * it did while its code was read.
	 */
	char *early;
	size_t early_size;
};

/* From when somebody wants it to end until its owner knows that it has. */
struct execution_ending {
	uint64_t since; /* boot clock, ns */
	unsigned int steps;
	unsigned int alive;	     /* processes that were still there when last killed */
	bool searched;		     /* and by their labels, wherever they were */
	bool counted;		     /* in end.killed_tasks */
	bool leader_killed;	     /* counted there, too */
	bool stuck;		     /* said that it cannot be killed */
	bool waited;		     /* for those who are to wait for its zombies */
	bool told;		     /* the owner has told how the command ended */
	bool known;		     /* it told an earlier daemon */
	bool overdue;		     /* its deadline is over, and its owner is about to tell */
	bool untold;		     /* its end is being written, and then told */
	struct reporting *reporting; /* while its report is made: see ending_report.h */
	int report_fd;
};

struct execution {
	struct daemon *daemon;
	enum execution_state state;
	char id[UUID_TEXT_SIZE];
	char name[UUID_TEXT_SIZE + 8]; /* "cordon-ID": its temporary directory */
	struct audit_execution record;
	json_t *request;   /* as received: what the state file keeps */
	char *policy_name; /* as asked for */
	const struct policy_use *policy;
	const struct policy_use *previous; /* while events that it decided may still come in */
	unsigned int previous_events;	   /* read since it was replaced */
	/* What is about to replace it, and as what it was asked for: for the state file. */
	const struct compiled_policy *changing;
	const char *changing_name;
	struct compiled_policy *recovered_policy; /* instead, where an earlier daemon had it */
	struct log_use *log;
	struct writer_share log_share; /* of what waits for its writer */

	bool bound; /* slot and view are set */
	uint32_t slot;
	uint32_t generation;
	const struct cordon_execution *view;
	int cgroup_fd;
	uint64_t cgroup_number;		       /* of that, once somebody has asked: see whose.h */
	int directories[PROTOCOL_MAX_FDS + 1]; /* pin the anchors' inodes */
	size_t directory_count;
	int code_fd; /* of the file that was hashed, until it is watched; -1: none */
	bool have_tmp;
	uid_t tmp_uid;

	struct execution_owner owner;
	pid_t leader;
	bool adopted;	/* made by the kernel of an executor's child */
	bool recovered; /* an earlier daemon began it */
	bool resumed;	/* and it goes on under this one: see resume.h */
	bool started;	/* the start record comes before all that is appended now */
	bool written;	/* and is in the log's file */
	uint64_t start; /* boot clock, ns: when it was labelled */
	uint64_t deadline;

	struct sequence sequence;
	struct backlog backlog; /* of its events: see events.h */
	uint64_t turn;		/* the last one in which it had records made, and how many: */
	unsigned int turn_records;
	/* Bytes of records: denials by a rule have a budget of their own. */
	struct log_budget budget, rule_budget;
	uint64_t lost;		     /* events that found no room in one of these */
	unsigned int awaited_events; /* read so far, while all are waited for */
	/*
	 * Of the events that are no records, since the start record tells of them: that an
	 * executor's child was taken, and begun, and which of its variables were overwritten.
	 */
	uint64_t unwritten[EXECUTION_UNWRITTEN];
	char **wiped; /* names of these variables, as the kernel told them; NULL-terminated */
	uint64_t found_sequence;    /* of the last event when it was recovered */
	struct reported reported;   /* EXECUTION_MAX_REPORTED of them, and of attempts */
	struct question *questions; /* that its calls wait for an answer to: see asking.h */

	struct audit_end end;
	struct event *timer;
	struct writer_wait *
		writing; /* until the log can be written; until its start, or its end, is in the file */
	struct execution_adoption adoption;
	struct execution_ending ending;

	unsigned int unread;		/* EXECUTION_UNREAD_*; 0: nothing */
	struct log_recall *recalled_by; /* reads its log */
	struct errand *holding;		/* opens its work directory again */
	bool settles;			/* what is missing up to found_sequence is a gap */
	bool change_unmade;		/* of its policy, which is on record */
};

/* With its memory and its timer, and nothing else; either may be missing. NULL without memory. */
struct execution *execution_new(struct daemon *daemon, json_t *message, pid_t owner,
				void *connection);

/* All that its previous policy decided is on record. */
void execution_put_previous(struct execution *e);

/* Its code is being read while it runs already: it is not held. */
static inline bool execution_runs_unlooked(const struct execution *e)
{
	return e->adoption.look && e->state == EXECUTION_LIVE &&
	       e->view->state == CORDON_EXECUTION_LIVE;
}

/* CORDON_POLICY_*, of the policy in force. */
uint32_t execution_policy_flags(const struct execution *e);

/*
 * What an earlier daemon left in a slot; record, policy and log are still to be filled in. NULL
 * without memory.
 */
struct execution *execution_recovered(struct daemon *daemon, uint32_t slot,
				      const struct cordon_execution *view);

/*
 * What the kernel has made of an executor's child, in a slot that stood ready; policy, record and
 * log are still to be filled in. NULL without memory.
 */
struct execution *execution_adopted(struct daemon *daemon, uint32_t slot,
				    const struct cordon_execution *view);

/* Releases everything: kernel slot, cgroup, directories, policy. For the end of its life. */
void execution_free(struct execution *e);

/* The live execution with this id, or NULL. */
struct execution *execution_find(struct daemon *daemon, const char *id);

/*
 * Words that others chose, which need not be text: as far as they are. NULL becomes null. New
 * reference or NULL.
 */
json_t *execution_text(const char *text);

/* Denials and so on as of now, for lists. New reference or NULL. */
json_t *execution_json(const struct execution *e);

/*
 * The daemon's sums, with what live executions have so far: as totals_json(). New reference or
 * NULL.
 */
json_t *execution_totals_json(const struct daemon *daemon);

#endif
