// SPDX-License-Identifier: Apache-2.0
/* The table of all maps that executions share, and what greedy executions leave for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "bpf/pure/shares.h"
#include "enforce.skel.h"

DEFINE_CLEANUP(struct enforce_bpf *, enforce_bpf__destroy, skeletonp)

#define GREEDY 1000u /* executions of one user that take all they can */

enum kind {
	CHARGED,   /* to an execution and its user: pure/shares.h */
	TELEMETRY, /* no verdict needs an entry; the lack is counted */
	RECENT,	   /* the oldest entry is given up: it is made again, or no longer needed */
	DAEMON,	   /* the daemon alone makes entries, and limits each execution itself */
};

static const struct shared {
	const char *name;
	enum kind kind;
	uint32_t capacity;
	uint32_t each;	 /* of one execution */
	uint32_t needed; /* by an ordinary one */
} table[] = {
	{"labels_by_address", CHARGED, LABELS_ALL, LABELS_EACH, 256},
	{"own_credentials", CHARGED, CREDENTIALS_ALL, CREDENTIALS_EACH, 512},
	{"temporary_files", CHARGED, TEMPORARY_ALL, TEMPORARY_EACH, 256},
	{"watchers", CHARGED, WATCHERS_ALL, WATCHERS_EACH, 8},
	{"ipc_owners", CHARGED, IPC_ALL, IPC_EACH, 8},
	{"own_superblocks", CHARGED, SUPERBLOCKS_ALL, SUPERBLOCKS_EACH, 16},
	{"own_terminals", CHARGED, TERMINALS_ALL, TERMINALS_EACH, 16},
	{"roles", CHARGED, ROLES_ALL, ROLES_ALL, 64},
	{"traffic", TELEMETRY, TRAFFIC_ALL, TRAFFIC_EACH, 0},
	{"critical", TELEMETRY, 8u << 20, 0, 0},
	{"activity", TELEMETRY, 4u << 20, 0, 0},
	{"temporary_counts", RECENT, 4096, 0, 0},
	{"temporary_makers", RECENT, 8192, 0, 0},
	{"own_links", RECENT, 32768, 0, 0},
	{"recent_denials", RECENT, 8192, 0, 0},
	{"asked_questions", RECENT, CORDON_MAX_QUESTIONS, CORDON_ASKS_EACH, 0},
	{"stub_clients", RECENT, 16384, 0, 0},
	{"host_addresses", DAEMON, CORDON_HOST_ADDRESSES, 0, 0},
	{"adopt_names", DAEMON, 16384, 0, 0},
};

static const struct shared *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

static bool is_taken_in_places(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_LRU_HASH ||
	       type == BPF_MAP_TYPE_LPM_TRIE || type == BPF_MAP_TYPE_RINGBUF;
}

/* Arrays have a place for each execution or entry, storage belongs to its task or socket. */
static void test_table_is_complete(void **state)
{
	_cleanup_(skeletonp) struct enforce_bpf *skeleton = enforce_bpf__open();
	struct bpf_map *map;
	size_t found = 0;

	(void)state;
	assert_non_null(skeleton);
	bpf_object__for_each_map(map, skeleton->obj)
	{
		const struct shared *shared = find(bpf_map__name(map));

		if (!is_taken_in_places(bpf_map__type(map)))
			continue;
		if (!shared)
			fail_msg("%s is not in the table", bpf_map__name(map));
		assert_int_equal(bpf_map__max_entries(map), shared->capacity);
		assert_int_equal(bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH,
				 shared->kind == RECENT);
		found++;
	}
	assert_int_equal(found, ARRAY_SIZE(table));
}

struct users {
	uint64_t all, root, one, other;
};

/* What an execution of this user gets that tries to take so many. */
static uint64_t take_most(const struct shared *map, struct users *held, uint64_t *user,
			  bool is_root, uint64_t most)
{
	uint64_t got = 0;

	/* Roles are of no execution, and charged to a user alone. */
	while (got < most && share_is_left(map->capacity, held->all,
					   map->each < map->capacity ? got : 0, *user, is_root)) {
		got++;
		held->all++;
		*user += 1;
	}
	return got;
}

static uint64_t take(const struct shared *map, struct users *held, uint64_t *user, bool is_root)
{
	return take_most(map, held, user, is_root, map->each);
}

static bool takes_what_it_needs(const struct shared *map, struct users *held, uint64_t *user,
				bool is_root)
{
	return take_most(map, held, user, is_root, map->needed) == map->needed;
}

static void test_greedy_user_leaves_enough(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct shared *map = &table[i];
		struct users held = {};

		if (map->kind != CHARGED)
			continue;
		for (unsigned int n = 0; n < GREEDY; n++)
			take(map, &held, &held.one, false);
		assert_true(held.one <= map->capacity / 2);
		assert_true(takes_what_it_needs(map, &held, &held.root, true));
		assert_true(takes_what_it_needs(map, &held, &held.other, false));
	}
}

/* Many users: root has its reserve. */
static void test_greedy_users_leave_reserve(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct shared *map = &table[i];
		struct users held = {};

		if (map->kind != CHARGED)
			continue;
		for (unsigned int user = 0; user < 64; user++) {
			held.other = 0;
			for (unsigned int n = 0; n < 64; n++)
				take(map, &held, &held.other, false);
		}
		assert_true(map->capacity - held.all >= map->capacity / SHARE_RESERVE_PART);
		assert_true(takes_what_it_needs(map, &held, &held.root, true));
	}
}

/* Root has no share as a user: its executions are limited by what is free. */
static void test_greedy_executions_of_root(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct shared *map = &table[i];
		struct users held = {};

		/* Roles are of processes that no policy confines. */
		if (map->kind != CHARGED || map->each == map->capacity)
			continue;
		for (unsigned int n = 0; n < 12; n++)
			take(map, &held, &held.root, true);
		assert_true(takes_what_it_needs(map, &held, &held.root, true));
		assert_true(held.all < map->capacity);
	}
}

/* An execution alone still gets all that its own limit allows. */
static void test_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct users held = {};

		if (table[i].kind != CHARGED || table[i].each == table[i].capacity)
			continue;
		assert_int_equal(take(&table[i], &held, &held.one, false), table[i].each);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_complete),
		cmocka_unit_test(test_greedy_user_leaves_enough),
		cmocka_unit_test(test_greedy_users_leave_reserve),
		cmocka_unit_test(test_greedy_executions_of_root),
		cmocka_unit_test(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
