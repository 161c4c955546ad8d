/* SPDX-License-Identifier: Apache-2.0 */
/* An execution under a policy, and kernel events of it, as tests need them. */
#ifndef CORDON_TESTS_AUDIT_FIXTURE_H
#define CORDON_TESTS_AUDIT_FIXTURE_H

#include <string.h>

#include "audit/record/record.h"

#define FIXTURE_TIME	    1763683200000000000ull /* 2025-11-21T00:00:00Z */
#define FIXTURE_BOOT_OFFSET (FIXTURE_TIME - 1000000000ull)

/* A ring record: as large as the largest. */
struct fixture_event {
	_Alignas(8) unsigned char data[CORDON_EVENT_LARGE * 2];
	size_t size;
};

struct fixture {
	char *tags[3];
	struct policy_rule rules[2];
	struct compiled_policy policy;
	struct audit_execution execution;
	uint64_t sequence;
	uint64_t clock; /* boot time, ns */
};

static inline void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->tags[0] = (char *)"exfiltration";
	f->tags[1] = (char *)"keys";
	f->rules[0] = (struct policy_rule){
		.file = (char *)"runtime/python3.yaml",
		.line = 12,
		.text = (char *)"allow read /usr/lib/python3/**",
	};
	f->rules[1] = (struct policy_rule){
		.file = (char *)"policies/python-sandbox.yaml",
		.line = 31,
		.text = (char *)"deny all **/.env",
		.severity = (char *)"high",
		.message = (char *)"secrets stay where they are",
		.tags = f->tags,
	};
	f->policy = (struct compiled_policy){
		.name = (char *)"python-sandbox",
		.file = (char *)"policies/python-sandbox.yaml",
		.rules = f->rules,
		.rule_count = 2,
	};
	memset(f->policy.digest, 0x5a, sizeof(f->policy.digest));
	f->execution = (struct audit_execution){
		.id = {0x01, 0x9a, 0xa3, 0xc4, 0x11, 0xd2, 0x7a, 0xbc, 0x8d, 0xef, 1, 2, 3, 4, 5,
		       6},
		.session = (char *)"s-17",
		.agent = (char *)"coder",
		.executor = (char *)"cordon-run",
		.language = (char *)"python",
		.workdir = (char *)"/home/u/work",
		.program = (char *)"python3",
		.argument_count = 2,
		.arguments_length = 18,
		.code = {.source = AUDIT_CODE_FILE,
			 .path = (char *)"/home/u/work/attack.py",
			 .have_digest = true,
			 .digest = {0xc0, 0xde},
			 .length = 812},
		.policy = &f->policy,
		.limits = {.wall_nsec = 60000000000ull, .memory_bytes = 512 << 20, .pids = 64},
		.uid = 1000,
		.gid = 1000,
	};
	f->clock = 1000000000ull;
}

static inline struct cordon_event fixture_header(struct fixture *f, uint32_t type, uint32_t pid,
						 uint32_t parent, const char *comm)
{
	struct cordon_event header = {
		.type = type,
		.slot = 3,
		.generation = 9,
		.sequence = ++f->sequence,
		.time = f->clock,
		.policy = CORDON_POLICY_REF(5, 2),
		.process_start = 1000000ull * pid,
		.tgid = pid,
		.tid = pid,
		.parent_tgid = parent,
		.parent_start = 1000000ull * parent,
		.uid = 1000,
		.gid = 1000,
	};

	memcpy(header.comm, comm, strnlen(comm, sizeof(header.comm)));
	return header;
}

/* Sets the size in the header, too. */
static inline void fixture_finish(struct fixture_event *e, const void *fixed, size_t fixed_size,
				  const void *tail, size_t tail_size)
{
	uint32_t size = (uint32_t)(fixed_size + tail_size);

	memset(e->data, 0, sizeof(e->data));
	memcpy(e->data, fixed, fixed_size);
	if (tail_size > 0)
		memcpy(e->data + fixed_size, tail, tail_size);
	memcpy(e->data + offsetof(struct cordon_event, size), &size, sizeof(size));
	e->size = size;
}

struct fixture_denial {
	uint32_t pid, parent;
	const char *comm;
	uint32_t operation, rights, kind;
	const void *object;
	size_t object_size;
	uint32_t total; /* 0: as long as object_size */
	uint8_t reason, would;
	bool attempt;	/* instead of a denial */
	uint16_t flags; /* CORDON_OBJECT_* */
	uint16_t rule;	/* with CORDON_REASON_RULE, and of an attempt */
	uint32_t repeats;
	int32_t error; /* 0: -EACCES */
};

static inline void fixture_denial(struct fixture *f, const struct fixture_denial *d,
				  struct fixture_event *ret)
{
	struct cordon_denial_event event = {
		.event = fixture_header(f, d->attempt ? CORDON_EVENT_ATTEMPT : CORDON_EVENT_DENIAL,
					d->pid, d->parent, d->comm),
		.operation = d->operation,
		.rights = d->rights,
		.error = d->error ? d->error : -EACCES,
		.rule = d->reason == CORDON_REASON_RULE || d->attempt ? d->rule : CORDON_NO_RULE,
		.reason = d->reason,
		.would = d->would,
		.object_kind = (uint16_t)d->kind,
		.object_flags = d->flags,
		.object_length = (uint32_t)d->object_size,
		.object_total = d->total ? d->total : (uint32_t)d->object_size,
		.repeats = d->repeats,
	};

	fixture_finish(ret, &event, sizeof(event), d->object, d->object_size);
}

static inline void fixture_exec(struct fixture *f, uint32_t pid, uint32_t parent, const char *comm,
				const char *path, const char *args, size_t args_size,
				uint32_t total, struct fixture_event *ret)
{
	struct cordon_exec_event event = {
		.event = fixture_header(f, CORDON_EVENT_EXEC, pid, parent, comm),
		.path_length = (uint32_t)strlen(path),
		.args_length = (uint32_t)args_size,
		.args_total = total ? total : (uint32_t)args_size,
	};
	char tail[CORDON_EVENT_LARGE];

	memcpy(tail, path, strlen(path));
	memcpy(tail + strlen(path), args, args_size);
	fixture_finish(ret, &event, sizeof(event), tail, strlen(path) + args_size);
}

static inline void fixture_exit(struct fixture *f, uint32_t pid, uint32_t parent, const char *comm,
				int status, struct fixture_event *ret)
{
	struct cordon_exit_event event = {
		.event = fixture_header(f, CORDON_EVENT_EXIT, pid, parent, comm),
		.exit_code = status,
		.user_ns = 1500000,
		.system_ns = 500000,
	};

	fixture_finish(ret, &event, sizeof(event), NULL, 0);
}

static inline void fixture_access(struct fixture *f, uint32_t type, uint32_t pid, uint32_t parent,
				  const char *comm, uint32_t operation, uint32_t rights,
				  uint32_t kind, const void *object, size_t object_size,
				  struct fixture_event *ret)
{
	struct cordon_access_event event = {
		.event = fixture_header(f, type, pid, parent, comm),
		.operation = operation,
		.rights = rights,
		.rule = 0,
		.object_kind = (uint16_t)kind,
		.object_length = (uint32_t)object_size,
		.object_total = (uint32_t)object_size,
	};

	fixture_finish(ret, &event, sizeof(event), object, object_size);
}

#endif
