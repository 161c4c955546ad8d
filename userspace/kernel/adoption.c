/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration of the kernel programs for recognising executors and adopting their children. */
#include "kernel/adoption.h"

#include <bpf/bpf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>

#include "kernel/handle.h"
#include "kernel/mappings.h"
#include "kernel/pins.h"

#define EXECUTORS_SIZE (CORDON_MAX_EXECUTORS * sizeof(struct cordon_executor))

struct name {
	struct cordon_adopt_key key; /* first, because the tree compares by it */
	LIST_ENTRY(name) link;
};

struct adoption {
	int names_fd;
	/*
	 * Names in the map. The map may have tens of thousands, and iterating over it costs as many
	 * instructions for each (trie_get_next_key(), kernel/bpf/lpm_trie.c).
	 */
	LIST_HEAD(, name) names;
	void *by_key;
	struct cordon_executor *executors; /* mapped */
	struct cordon_adoption *state;
};

/* Mappings consist of whole pages, and the kernel rounds the arrays up to them. */
static size_t pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static int map(const char *name, size_t size, void **ret_at, struct failure *failure)
{
	_cleanup_(closep) int fd = pin_get(PIN_MAPS, name);
	void *at;

	if (fd < 0)
		return failure_set(failure, fd, "cannot open the pinned map %s: %m", name);
	at = mmap(NULL, pages(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return failure_set(failure, errno, "cannot map %s: %m", name);
	*ret_at = at;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct cordon_adopt_key));
}

static int remember(struct adoption *a, const struct cordon_adopt_key *key)
{
	struct name *name;

	if (tfind(key, &a->by_key, compare_names))
		return 0;
	name = malloc(sizeof(*name));
	if (!name)
		return -ENOMEM;
	name->key = *key;
	if (!tsearch(name, &a->by_key, compare_names)) {
		free(name);
		return -ENOMEM;
	}
	LIST_INSERT_HEAD(&a->names, name, link);
	return 0;
}

static void forget(struct adoption *a, struct name *name)
{
	(void)bpf_map_delete_elem(a->names_fd, &name->key);
	(void)tdelete(name, &a->by_key, compare_names);
	LIST_REMOVE(name, link);
	free(name);
}

/* Reads the names that an earlier daemon has added. */
static int learn_names(struct adoption *a)
{
	struct cordon_adopt_key key;
	int r = bpf_map_get_next_key(a->names_fd, NULL, &key);

	while (r == 0) {
		struct cordon_adopt_key before = key;

		r = remember(a, &key);
		if (r < 0)
			return r;
		r = bpf_map_get_next_key(a->names_fd, &before, &key);
	}
	return 0;
}

int adoption_open(struct adoption **ret_adoption, struct failure *failure)
{
	struct adoption *a = calloc(1, sizeof(*a));
	void *at = NULL;
	int r;

	if (!a)
		return failure_set(failure, ENOMEM, "%m");
	LIST_INIT(&a->names);
	a->names_fd = pin_get(PIN_MAPS, "adopt_names");
	r = a->names_fd < 0 ? failure_set(failure, a->names_fd,
					  "cannot open the pinned map adopt_names: %m")
			    : map("executors", EXECUTORS_SIZE, &at, failure);
	if (r == 0 && learn_names(a) < 0)
		r = failure_set(failure, ENOMEM, "%m");
	if (r == 0) {
		a->executors = at;
		r = map("adoption", sizeof(*a->state), &at, failure);
	}
	if (r < 0) {
		adoption_close(a);
		return r;
	}
	a->state = at;
	mappings_keep_from_children();
	*ret_adoption = a;
	return 0;
}

void adoption_close(struct adoption *a)
{
	if (a->executors)
		munmap(a->executors, pages(EXECUTORS_SIZE));
	if (a->state)
		munmap(a->state, pages(sizeof(*a->state)));
	closep(&a->names_fd);
	tdestroy(a->by_key, free);
	free(a);
}

struct cordon_executor *adoption_entry(struct adoption *a, uint32_t index)
{
	return index < CORDON_MAX_EXECUTORS ? &a->executors[index] : NULL;
}

const struct cordon_adoption *adoption_state(const struct adoption *a)
{
	return a->state;
}

/* --- names -------------------------------------------------------------------------------- */

static int make_key(struct cordon_adopt_key *key, enum cordon_adopt_question question,
		    uint32_t executor, const char *text, bool whole)
{
	size_t length = strlen(text) + (whole ? 1 : 0);

	*key = (struct cordon_adopt_key){.question = question, .executor = executor};
	if (length > sizeof(key->text))
		return -ENAMETOOLONG;
	memcpy(key->text, text, length);
	key->prefix = (uint32_t)(8 * (sizeof(key->question) + sizeof(key->executor) + length));
	return 0;
}

int adoption_add_name(struct adoption *a, enum cordon_adopt_question question, uint32_t executor,
		      const char *text, bool whole, uint64_t value)
{
	struct cordon_adopt_key key;
	int r = make_key(&key, question, executor, text, whole);

	if (r == 0)
		r = remember(a, &key);
	if (r < 0)
		return r;
	return bpf_map_update_elem(a->names_fd, &key, &value, BPF_ANY) < 0 ? -errno : 0;
}

/* The value of exactly this key: a lookup would also find a shorter one. */
static uint64_t value_of(struct adoption *a, const struct cordon_adopt_key *key)
{
	uint64_t value = 0;

	if (!tfind(key, &a->by_key, compare_names) ||
	    bpf_map_lookup_elem(a->names_fd, key, &value) < 0)
		return 0;
	return value;
}

uint64_t adoption_whole_name(struct adoption *a, enum cordon_adopt_question question,
			     uint32_t executor, const char *text)
{
	struct cordon_adopt_key key;

	return make_key(&key, question, executor, text, true) < 0 ? 0 : value_of(a, &key);
}

uint64_t adoption_prefix(struct adoption *a, enum cordon_adopt_question question, uint32_t executor,
			 const char *text)
{
	struct cordon_adopt_key key;

	return make_key(&key, question, executor, text, false) < 0 ? 0 : value_of(a, &key);
}

/* Is the key's value a mask of entries? */
static bool is_shared(const struct cordon_adopt_key *key)
{
	return key->question == CORDON_ADOPT_EXECUTOR ||
	       key->question == CORDON_ADOPT_EXECUTOR_LIKE;
}

static bool belongs_to(const struct cordon_adopt_key *key, uint32_t executor)
{
	return key->executor == executor && !is_shared(key) &&
	       key->question != CORDON_ADOPT_DIRECTORY;
}

void adoption_remove_names(struct adoption *a, uint32_t executor)
{
	struct name *name = LIST_FIRST(&a->names);

	while (name) {
		struct name *next = LIST_NEXT(name, link);

		if (belongs_to(&name->key, executor))
			forget(a, name);
		name = next;
	}
}

void adoption_keep_executables(struct adoption *a, uint64_t active)
{
	struct name *name = LIST_FIRST(&a->names);

	while (name) {
		struct name *next = LIST_NEXT(name, link);
		uint64_t mask;

		if (is_shared(&name->key) &&
		    bpf_map_lookup_elem(a->names_fd, &name->key, &mask) == 0 && (mask & ~active)) {
			mask &= active;
			if (mask)
				(void)bpf_map_update_elem(a->names_fd, &name->key, &mask,
							  BPF_EXIST);
			else
				forget(a, name);
		}
		name = next;
	}
}

/* --- the configuration as a whole --------------------------------------------------------- */

void adoption_switch(struct adoption *a, uint64_t active)
{
	if (active)
		__atomic_store_n(&a->state->recognise, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&a->state->active, active, __ATOMIC_RELEASE);
}

void adoption_set_root(struct adoption *a, const struct cordon_anchor *root)
{
	a->state->root_device = root->device;
	a->state->root_inode = root->inode;
}

void adoption_renew(struct adoption *a, uint64_t until)
{
	a->state->daemon = (uint32_t)getpid();
	__atomic_store_n(&a->state->lease, until, __ATOMIC_RELEASE);
}

/* --- executions kept ready ---------------------------------------------------------------- */

bool adoption_offer(struct adoption *a, uint32_t index, uint32_t slot, uint32_t generation)
{
	struct cordon_executor *executor = adoption_entry(a, index);

	for (size_t i = 0; executor && i < CORDON_MAX_STANDBY; i++) {
		__u64 none = 0;

		if (__atomic_compare_exchange_n(&executor->standby[i], &none,
						CORDON_STANDBY(slot, generation), false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool adoption_withdraw(struct adoption *a, uint32_t index, uint32_t slot, uint32_t generation)
{
	struct cordon_executor *executor = adoption_entry(a, index);

	for (size_t i = 0; executor && i < CORDON_MAX_STANDBY; i++) {
		__u64 own = CORDON_STANDBY(slot, generation);

		if (__atomic_compare_exchange_n(&executor->standby[i], &own, 0, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* --- running executors -------------------------------------------------------------------- */

#define ROLES_AT_A_TIME 512u

struct role_batch {
	__u64 tasks[ROLES_AT_A_TIME];
	struct cordon_role roles[ROLES_AT_A_TIME];
};

static int take_executors(const struct cordon_role *roles, size_t count,
			  struct adoption_executor **list, size_t *at)
{
	struct adoption_executor *larger = reallocarray(*list, *at + count, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	*list = larger;
	for (size_t i = 0; i < count; i++)
		if (roles[i].kind == CORDON_ROLE_EXECUTOR)
			larger[(*at)++] = (struct adoption_executor){
				roles[i].owner, roles[i].executor, roles[i].start};
	return 0;
}

int adoption_list_executors(struct adoption *a, struct adoption_executor **ret_list,
			    size_t *ret_count)
{
	_cleanup_(closep) int fd = pin_get(PIN_MAPS, "roles");
	_cleanup_(freep) struct role_batch *batch = malloc(sizeof(*batch));
	_cleanup_(freep) struct adoption_executor *list = NULL;
	__u64 position;
	bool first = true;
	size_t at = 0;
	int r = 0;

	(void)a;
	if (fd < 0 || !batch)
		return fd < 0 ? fd : -ENOMEM;
	while (r == 0) {
		__u32 count = ROLES_AT_A_TIME;
		int taken;

		if (bpf_map_lookup_batch(fd, first ? NULL : &position, &position, batch->tasks,
					 batch->roles, &count, NULL) < 0)
			r = -errno;
		first = false;
		if (r < 0 && r != -ENOENT)
			return r;
		/* -ENOENT: these are the last. */
		taken = count ? take_executors(batch->roles, count, &list, &at) : 0;
		if (taken < 0)
			return taken;
	}
	*ret_list = TAKE_PTR(list);
	*ret_count = at;
	return 0;
}

/* --- registering a running executor ------------------------------------------------------- */

static int pass(int map_fd, int program_fd, int pidfd, struct cordon_role_request *request)
{
	const __u32 key = 0;
	int r;

	if (bpf_map_update_elem(map_fd, &key, request, BPF_ANY) < 0)
		return -errno;
	r = tasks_iterate(program_fd, pidfd, NULL, NULL);
	if (r == 0 && bpf_map_lookup_elem(map_fd, &key, request) < 0)
		r = -errno;
	return r < 0 ? r : request->error;
}

/* A later pass finds a fork that began before its parent had the role. */
#define PASSES_MAX 16

int adoption_register(uint32_t index, pid_t pid, int pidfd, uint32_t *ret_threads,
		      uint32_t *ret_children)
{
	struct cordon_role_request request = {.pid = (__u32)pid, .executor = index};
	_cleanup_(closep) int map_fd = pin_get(PIN_MAPS, "role_request");
	_cleanup_(closep) int program_fd = pin_get(PIN_PROGRAMS, "cordon_adopt_tasks");
	uint32_t before;
	int r;

	if (map_fd < 0 || program_fd < 0)
		return map_fd < 0 ? map_fd : program_fd;
	r = pass(map_fd, program_fd, pidfd, &request);
	if (r == 0 && !request.start)
		r = -ESRCH;
	for (int i = 0; r == 0 && i < PASSES_MAX; i++) {
		before = request.threads + request.children;
		r = pass(map_fd, program_fd, -1, &request);
		if (r == 0 && i > 0 && request.threads + request.children == before)
			break;
	}
	if (r < 0)
		return r;
	*ret_threads = request.threads;
	*ret_children = request.children;
	return 0;
}
