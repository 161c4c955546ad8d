/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, opens and closes the programs and maps that are pinned below /sys/fs/bpf/cordon. */
#include "kernel/enforcement.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "build_id.h"
#include "kernel/cgroup_links.h"
#include "kernel/features.h"
#include "kernel/handle.h"
#include "kernel/loader.h"
#include "kernel/pins.h"
#include "kernel/upgrade.h"

#define COUNTERS_SIZE	(CORDON_COUNTER_SLOTS * sizeof(__u64))
#define EXECUTIONS_SIZE (CORDON_MAX_EXECUTIONS * sizeof(struct cordon_execution))

enum pinned_state {
	PINNED_NONE,
	PINNED_COMPLETE,
	PINNED_INCOMPLETE,
	PINNED_OTHER_BUILD,
};

static int count_links(void)
{
	_cleanup_(closedirp) DIR *dir = opendir(PIN_LINKS);
	struct dirent *entry;
	int count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.' && !loader_is_extra(entry->d_name);
	return count;
}

static enum pinned_state pinned_state(void)
{
	_cleanup_(closep) int meta_fd = -1;
	struct bpf_map_info info = {};
	unsigned int size = sizeof(info);
	struct cordon_meta meta = {};
	__u32 key = 0;

	if (access(ENFORCEMENT_PIN_DIRECTORY, F_OK) < 0)
		return PINNED_NONE;
	meta_fd = bpf_obj_get(PIN_META);
	if (meta_fd < 0 || bpf_obj_get_info_by_fd(meta_fd, &info, &size) < 0 ||
	    info.value_size != sizeof(meta) || bpf_map_lookup_elem(meta_fd, &key, &meta) < 0)
		return PINNED_INCOMPLETE;
	meta.build_id[sizeof(meta.build_id) - 1] = '\0';
	if (meta.abi_version != CORDON_ABI_VERSION || strcmp(meta.build_id, CORDON_BUILD_ID) != 0)
		return PINNED_OTHER_BUILD;
	return count_links() == loader_expected_links() && pins_are_what_they_are_called() &&
			       loader_engine_is_complete()
		       ? PINNED_COMPLETE
		       : PINNED_INCOMPLETE;
}

bool enforcement_is_complete(void)
{
	return pinned_state() == PINNED_COMPLETE;
}

/* Is a map of tasks not empty? Works with pins of any build. */
static bool has_tasks(const char *map)
{
	_cleanup_(closep) int fd = pin_get(PIN_MAPS, map);
	__u64 first;

	return fd >= 0 && bpf_map_get_next_key(fd, NULL, &first) == 0;
}

static bool has_labelled_tasks(void)
{
	return has_tasks("labels_by_address");
}

/* Running executors: their next children are confined because of their roles. */
static bool has_roles(void)
{
	return has_tasks("roles");
}

static int open_map(const char *name, int *fd, struct failure *failure)
{
	*fd = pin_get(PIN_MAPS, name);
	if (*fd < 0)
		return failure_set(failure, *fd, "cannot open the pinned map %s: %m", name);
	return 0;
}

static int open_program(const char *name, int *fd, struct failure *failure)
{
	*fd = pin_get(PIN_PROGRAMS, name);
	if (*fd < 0)
		return failure_set(failure, *fd, "cannot open the pinned program %s: %m", name);
	return 0;
}

static int open_handles(struct enforcement *e, struct failure *failure)
{
	int r = 0;

	if (r == 0)
		r = open_map("executions", &e->executions_fd, failure);
	if (r == 0)
		r = open_map("policies", &e->policies_fd, failure);
	if (r == 0)
		r = open_map("counters", &e->counters_fd, failure);
	if (r == 0)
		r = open_map("critical", &e->critical_fd, failure);
	if (r == 0)
		r = open_map("activity", &e->activity_fd, failure);
	if (r == 0)
		r = open_map("label_request", &e->label_request_fd, failure);
	if (r == 0)
		r = open_map("ipc_list", &e->ipc_list_fd, failure);
	if (r == 0)
		r = open_map("host_addresses", &e->host_addresses_fd, failure);
	if (r == 0)
		r = open_map("stub", &e->stub_fd, failure);
	if (r == 0)
		r = open_map("stub_clients", &e->stub_clients_fd, failure);
	if (r == 0)
		r = open_map("traffic", &e->traffic_fd, failure);
	if (r == 0)
		r = open_map("asked_questions", &e->questions_fd, failure);
	if (r == 0)
		r = open_program("cordon_identify", &e->identify_fd, failure);
	if (r == 0)
		r = open_program("cordon_label_tasks", &e->label_tasks_fd, failure);
	if (r == 0)
		r = open_program("cordon_list_tasks", &e->list_tasks_fd, failure);
	if (r == 0)
		r = open_program("cordon_list_descriptors", &e->list_descriptors_fd, failure);
	if (r == 0)
		r = open_program("cordon_list_ipc", &e->list_ipc_fd, failure);
	return r;
}

static int map_arrays(struct enforcement *e, struct failure *failure)
{
	void *at;

	at = mmap(NULL, EXECUTIONS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, e->executions_fd, 0);
	if (at == MAP_FAILED)
		return failure_set(failure, errno, "cannot map the executions: %m");
	e->executions = at;
	at = mmap(NULL, COUNTERS_SIZE, PROT_READ, MAP_SHARED, e->counters_fd, 0);
	if (at == MAP_FAILED)
		return failure_set(failure, errno, "cannot map the counters: %m");
	e->counters = at;
	return 0;
}

static struct enforcement *enforcement_new(void)
{
	struct enforcement *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->cgroup_fd = -1;
	e->executions_fd = e->policies_fd = e->counters_fd = -1;
	e->critical_fd = e->activity_fd = e->label_request_fd = -1;
	e->identify_fd = e->label_tasks_fd = e->list_tasks_fd = e->list_descriptors_fd = -1;
	e->host_addresses_fd = e->stub_fd = e->stub_clients_fd = -1;
	e->ipc_list_fd = e->list_ipc_fd = e->traffic_fd = e->questions_fd = -1;
	return e;
}

/* Called if executions or executors run under another build's enforcement. */
static int upgrade(int cgroup_fd, struct failure *failure)
{
	struct failure why = {};
	int r = upgrade_pinned(cgroup_fd, &why);

	if (r != -ESTALE)
		return r < 0 ? failure_set(failure, r, "%s", why.text) : 0;
	return failure_set(
		failure, EBUSY,
		"%s holds the enforcement of another cordon build with live executions "
		"or executors, and this build cannot take it over: %s; end executions by "
		"the build that started them (`cordon ps`, `cordon kill`), stop the "
		"executors",
		ENFORCEMENT_PIN_DIRECTORY, why.text);
}

/*
 * Were the pinned objects active? Loading pins the build note last, and unloading removes it first.
 * Incomplete pins without a note have no executors to confine. With a note, the pins confine the
 * children of executors.
 */
static bool was_in_force(void)
{
	return access(PIN_META, F_OK) == 0 || errno != ENOENT;
}

static int clear_stale(struct failure *failure)
{
	if (was_in_force() && has_roles())
		return failure_set(failure, EBUSY,
				   "%s holds the incomplete enforcement of a cordon build, or "
				   "something else under its names, and executors run, whose "
				   "children would no longer be confined: stop these first, or use "
				   "`cordon disable --force`",
				   ENFORCEMENT_PIN_DIRECTORY);
	if (has_labelled_tasks())
		return failure_set(failure, EBUSY,
				   "%s holds the incomplete enforcement of a cordon build, or "
				   "something else under its names, with live executions: "
				   "end these first",
				   ENFORCEMENT_PIN_DIRECTORY);
	return pins_remove(failure);
}

/*
 * Reports the first missing feature in plain words, before libbpf fails with a less clear reason.
 */
static int check_features(struct failure *failure)
{
	_cleanup_(freep) struct feature *features = NULL;
	size_t count = 0;
	int r;

	r = features_probe(&features, &count);
	if (r < 0)
		return failure_set(failure, r, "cannot look at the kernel's features: %m");
	for (size_t i = 0; i < count; i++)
		if (features[i].state == FEATURE_MISSING)
			return failure_set(failure, EOPNOTSUPP,
					   "this host cannot enforce: %s (%s): %s; see `cordon "
					   "doctor`",
					   features[i].name, features[i].found, features[i].remedy);
	return 0;
}

/* Makes the enforcement complete and of this build, whatever state it is in. */
static int make_complete(int cgroup_fd, enum enforcement_origin *ret_origin,
			 struct failure *failure)
{
	enum pinned_state state = pinned_state();
	int r = 0;

	if (state == PINNED_COMPLETE) {
		*ret_origin = ENFORCEMENT_RECOVERED;
		return 0;
	}
	if (state == PINNED_OTHER_BUILD && (has_labelled_tasks() || has_roles())) {
		*ret_origin = ENFORCEMENT_UPGRADED;
		return upgrade(cgroup_fd, failure);
	}
	if (state != PINNED_NONE)
		r = clear_stale(failure);
	if (r == 0)
		r = check_features(failure);
	if (r == 0)
		r = loader_load_and_pin(cgroup_fd, failure);
	*ret_origin = ENFORCEMENT_LOADED;
	return r;
}

int enforcement_open(int cgroup_fd, struct enforcement **ret_enforcement,
		     enum enforcement_origin *ret_origin, struct failure *failure)
{
	_cleanup_(enforcement_closep) struct enforcement *e = enforcement_new();
	enum enforcement_origin origin;
	int r;

	if (!e)
		return -ENOMEM;
	if (geteuid() != 0)
		return failure_set(failure, EPERM,
				   "only root can load and control the enforcement");
	e->cgroup_fd = fcntl(cgroup_fd, F_DUPFD_CLOEXEC, 0);
	if (e->cgroup_fd < 0)
		return failure_set(failure, errno, "cannot keep cordon's cgroup open: %m");
	r = make_complete(cgroup_fd, &origin, failure);
	if (r == 0)
		r = cgroup_links_refresh(cgroup_fd, failure);
	if (r < 0)
		return r;
	r = open_handles(e, failure);
	if (r == 0)
		r = map_arrays(e, failure);
	if (r < 0)
		return r;
	*ret_enforcement = TAKE_PTR(e);
	*ret_origin = origin;
	return 0;
}

int enforcement_join(struct enforcement **ret_enforcement, struct failure *failure)
{
	_cleanup_(enforcement_closep) struct enforcement *e = enforcement_new();
	int r;

	if (!e)
		return failure_set(failure, ENOMEM, "%m");
	r = open_handles(e, failure);
	if (r == 0)
		r = map_arrays(e, failure);
	if (r == 0)
		*ret_enforcement = TAKE_PTR(e);
	return r;
}

void enforcement_close(struct enforcement *e)
{
	const int fds[] = {e->executions_fd,	   e->policies_fd,	 e->counters_fd,
			   e->critical_fd,	   e->activity_fd,	 e->label_request_fd,
			   e->identify_fd,	   e->label_tasks_fd,	 e->list_tasks_fd,
			   e->list_descriptors_fd, e->host_addresses_fd, e->stub_fd,
			   e->stub_clients_fd,	   e->ipc_list_fd,	 e->list_ipc_fd,
			   e->cgroup_fd,	   e->traffic_fd,	 e->questions_fd};

	enforcement_close_rings(e);
	if (e->executions)
		munmap(e->executions, EXECUTIONS_SIZE);
	if (e->counters)
		munmap(e->counters, COUNTERS_SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		closep(&fds[i]);
	free(e->host_counts);
	free(e);
}

int enforcement_unload(struct enforcement *e, struct failure *failure)
{
	if (has_labelled_tasks())
		return failure_set(failure, EBUSY, "executions are live");
	enforcement_close(e);
	return pins_remove(failure);
}

int enforcement_remove_pins(struct failure *failure)
{
	if (has_labelled_tasks())
		return failure_set(failure, EBUSY,
				   "executions are live: end these first, or they would go on "
				   "without confinement");
	return pins_remove(failure);
}

int enforcement_provide_hooks(const unsigned char *tables, struct failure *failure)
{
	const struct cordon_policy_header *header = (const void *)tables;
	int r = 0;

	if (CORDON_AUDIT_LEVEL(header->audit, CALLS) != CORDON_AUDIT_NONE)
		r = loader_attach_extra(LOADER_EXTRA_SYSTEM_CALLS, failure);
	if (r == 0 && (header->flags & CORDON_POLICY_ATTEMPTS))
		r = loader_attach_extra(LOADER_EXTRA_ATTEMPTS, failure);
	if (r == 0 && (header->flags & CORDON_POLICY_METADATA))
		r = loader_attach_extra(LOADER_EXTRA_METADATA, failure);
	if (r == 0 && CORDON_KEPT_DESCRIPTORS(header->flags) == CORDON_DESCRIPTORS_RECORD)
		r = loader_attach_extra(LOADER_EXTRA_SOCKETS, failure);
	return r;
}

int enforcement_provide(struct enforcement *e, const unsigned char *tables, struct failure *failure)
{
	const struct cordon_policy_header *header = (const void *)tables;
	int r = 0;

	if (header->flags & CORDON_POLICY_HOSTS)
		r = cgroup_links_attach_names(e->cgroup_fd, failure);
	return r == 0 ? enforcement_provide_hooks(tables, failure) : r;
}

int enforcement_watch_sockets(struct failure *failure)
{
	return loader_attach_extra(LOADER_EXTRA_SOCKETS, failure);
}

uint64_t enforcement_counter(const struct enforcement *e, unsigned int counter)
{
	if (counter >= CORDON_COUNTER_SLOTS)
		return 0;
	return __atomic_load_n(&e->counters[counter], __ATOMIC_RELAXED);
}
