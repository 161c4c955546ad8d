/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, attaches and pins the BPF object. */
#include "kernel/loader.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>

#include "bpf/abi.h"
#include "bpf/pure/system_calls.h"
#include "build_id.h"
#include "enforce.skel.h"
#include "kernel/engine.h"
#include "kernel/hooks.h"
#include "kernel/layout.h"
#include "kernel/load_progress.h"
#include "kernel/pins.h"
#include "kernel/symbols.h"

DEFINE_CLEANUP(struct enforce_bpf *, enforce_bpf__destroy, skeletonp)
DEFINE_CLEANUP(struct btf *, btf__free, btfp)

/* The cause reported by libbpf and the kernel; libraries must not print. */
static char complaint[512];
static bool complained_of_kernel;

#define VERIFIER_LOG "-- BEGIN PROG LOAD LOG --\n"

/* The verifier's log ends with statistics; the reason of the rejection is before them. */
static void note_reason(char *log)
{
	static const char *const numbers[] = {"processed ", "verification time ", "stack depth ",
					      "-- END PROG LOAD LOG --"};
	const char *reason = NULL;
	char *place = NULL;

	for (char *line = strtok_r(log, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
		bool number = false;

		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
			number |= strncmp(line, numbers[i], strlen(numbers[i])) == 0;
		if (!number && line[0])
			reason = line;
	}
	if (reason)
		snprintf(complaint + strlen(complaint), sizeof(complaint) - strlen(complaint),
			 ": %s", reason);
}

static int note_complaint(enum libbpf_print_level level, const char *format, va_list args)
	_printf_(2, 0);

static int note_complaint(enum libbpf_print_level level, const char *format, va_list args)
{
	_cleanup_(freep) char *text = NULL;
	char *log;

	if (level != LIBBPF_WARN || vasprintf(&text, format, args) < 0)
		return 0;
	log = strstr(text, VERIFIER_LOG);
	if (log && complaint[0] && !complained_of_kernel) {
		complained_of_kernel = true;
		note_reason(log + strlen(VERIFIER_LOG));
		return 0;
	}
	text[strcspn(text, "\n")] = '\0';
	/* The first message is the cause, later ones are its consequences. */
	if (complaint[0] == '\0')
		snprintf(complaint, sizeof(complaint), "%s",
			 text + (strncmp(text, "libbpf: ", 8) == 0 ? 8 : 0));
	return 0;
}

/* Number of arguments of a kernel function; -1: it does not exist. */
static int function_arguments(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);

	if (id < 0)
		return -1;
	return btf_vlen(btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type));
}

/*
 * Programs for hooks that only some kernels have, or have with another signature. If kernels
 * without a hook need a replacement, there is one; see the comments of the programs.
 */
static const struct {
	const char *program;
	const char *function; /* kernel function that it is attached to */
	int arguments;	      /* 0: any */
} optional_programs[] = {
	{"cordon_bpf", "bpf_lsm_bpf", 3},
	{"cordon_bpf_4", "bpf_lsm_bpf", 4},
	{"cordon_file_truncate", "bpf_lsm_file_truncate", 0},
	{"cordon_inode_set_acl", "bpf_lsm_inode_set_acl", 0},
	{"cordon_inode_remove_acl", "bpf_lsm_inode_remove_acl", 0},
	{"cordon_inode_get_acl", "bpf_lsm_inode_get_acl", 0},
	{"cordon_inode_file_getattr", "bpf_lsm_inode_file_getattr", 0},
	{"cordon_inode_file_setattr", "bpf_lsm_inode_file_setattr", 0},
	{"cordon_inode_setattr", "bpf_lsm_inode_setattr", 3},
	{"cordon_inode_setattr_2", "bpf_lsm_inode_setattr", 2},
	{"cordon_perf_event_open", "bpf_lsm_perf_event_open", 1},
	{"cordon_perf_event_open_2", "bpf_lsm_perf_event_open", 2},
	{"cordon_file_ioctl_compat", "bpf_lsm_file_ioctl_compat", 0},
	{"cordon_group_alloc", "fsnotify_alloc_group", 2},
	{"cordon_group_destroy", "fsnotify_destroy_group", 1},
	{"cordon_system_call", "__secure_computing", 0},
	{"cordon_system_call_permit", "__seccomp_permit_syscall", 0},
	{"cordon_attempt", "capable_wrt_inode_uidgid", 3},
};

static bool program_applies(const struct btf *btf, const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(optional_programs); i++) {
		int arguments;

		if (strcmp(optional_programs[i].program, program) != 0)
			continue;
		arguments = function_arguments(btf, optional_programs[i].function);
		if (arguments < 0)
			return false;
		return optional_programs[i].arguments == 0 ||
		       optional_programs[i].arguments == arguments;
	}
	return true;
}

static bool is_optional(const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(optional_programs); i++)
		if (strcmp(optional_programs[i].program, program) == 0)
			return true;
	return false;
}

/* A function that exists with a number of arguments that no program expects. */
static const char *function_without_program(const struct btf *btf)
{
	for (size_t i = 0; i < ARRAY_SIZE(optional_programs); i++) {
		const char *function = optional_programs[i].function;
		bool served = function_arguments(btf, function) < 0;

		for (size_t k = 0; k < ARRAY_SIZE(optional_programs) && !served; k++)
			served = strcmp(optional_programs[k].function, function) == 0 &&
				 program_applies(btf, optional_programs[k].program);
		if (!served)
			return function;
	}
	return NULL;
}

int loader_check_hooks(const struct btf *btf, char ret_missing[LOADER_HOOK_SIZE])
{
	_cleanup_(skeletonp) struct enforce_bpf *skeleton = enforce_bpf__open();
	const char *unserved = function_without_program(btf);
	struct bpf_program *program;
	char function[LOADER_HOOK_SIZE];
	int count = 0;

	if (!skeleton)
		return -ENOENT;
	snprintf(ret_missing, LOADER_HOOK_SIZE, "%s", unserved ? unserved : "");
	bpf_object__for_each_program(program, skeleton->obj)
	{
		if (bpf_program__type(program) != BPF_PROG_TYPE_LSM ||
		    is_optional(bpf_program__name(program)))
			continue;
		snprintf(function, sizeof(function), "bpf_lsm_%s",
			 strchr(bpf_program__section_name(program), '/') + 1);
		count++;
		if (btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) < 0)
			snprintf(ret_missing, LOADER_HOOK_SIZE, "%s", function);
	}
	return count;
}

/*
 * Programs that cost every process of the host time. They are attached when the first policy
 * requires them.
 */
static const struct {
	const char *program;
	enum loader_extra extra;
} extra_programs[] = {
	{"cordon_system_call", LOADER_EXTRA_SYSTEM_CALLS},
	{"cordon_system_call_permit", LOADER_EXTRA_SYSTEM_CALLS},
	{"cordon_attempt", LOADER_EXTRA_ATTEMPTS},
	{"cordon_inode_getattr", LOADER_EXTRA_METADATA},
	{"cordon_inode_readlink", LOADER_EXTRA_METADATA},
	{"cordon_inode_file_getattr", LOADER_EXTRA_METADATA},
	{"cordon_inode_listxattr", LOADER_EXTRA_METADATA},
	{"cordon_inode_getxattr_look", LOADER_EXTRA_METADATA},
	{"cordon_inode_get_acl", LOADER_EXTRA_METADATA},
	{"cordon_file_permission", LOADER_EXTRA_SOCKETS},
	{"cordon_connect4", LOADER_EXTRA_NAMES},
	{"cordon_connect6", LOADER_EXTRA_NAMES},
	{"cordon_sendmsg4", LOADER_EXTRA_NAMES},
	{"cordon_sendmsg6", LOADER_EXTRA_NAMES},
	{"cordon_recvmsg4", LOADER_EXTRA_NAMES},
	{"cordon_recvmsg6", LOADER_EXTRA_NAMES},
	{"cordon_getpeername4", LOADER_EXTRA_NAMES},
	{"cordon_getpeername6", LOADER_EXTRA_NAMES},
};

bool loader_is_extra(const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(extra_programs); i++)
		if (strcmp(extra_programs[i].program, program) == 0)
			return true;
	return false;
}

/* Is it attached to a cgroup instead of the whole host? */
bool loader_is_for_cgroup(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_CGROUP_SKB ||
	       bpf_program__type(program) == BPF_PROG_TYPE_CGROUP_SOCK_ADDR;
}

/* Iterators and `syscall` programs run on request; all others are attached from the start. */
bool loader_is_attached(const struct bpf_program *program)
{
	if (loader_is_extra(bpf_program__name(program)))
		return false;
	return bpf_program__type(program) == BPF_PROG_TYPE_LSM || loader_is_for_cgroup(program) ||
	       (bpf_program__type(program) == BPF_PROG_TYPE_TRACING &&
		bpf_program__expected_attach_type(program) != BPF_TRACE_ITER);
}

bool loader_is_pinned_program(const struct bpf_program *program)
{
	/* Programs of the engine are held by their links. */
	return !loader_is_attached(program) && bpf_program__type(program) != BPF_PROG_TYPE_EXT;
}

void loader_choose_programs(struct bpf_object *object, const struct btf *btf)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object) bpf_program__set_autoload(
		program, program_applies(btf, bpf_program__name(program)));
}

int loader_expected_links(void)
{
	_cleanup_(skeletonp) struct enforce_bpf *skeleton = NULL;
	_cleanup_(btfp) struct btf *btf = NULL;
	struct bpf_program *program;
	int count = 0;

	libbpf_set_print(note_complaint);
	btf = btf__load_vmlinux_btf();
	skeleton = enforce_bpf__open();
	if (!btf || !skeleton)
		return -ENOENT;
	bpf_object__for_each_program(program, skeleton->obj) count +=
		loader_is_attached(program) && program_applies(btf, bpf_program__name(program));
	return count;
}

bool loader_engine_is_complete(void)
{
	_cleanup_(skeletonp) struct enforce_bpf *skeleton = enforce_bpf__open();

	return skeleton && engine_is_complete(skeleton->obj);
}

static int pin_failed(struct failure *failure, int error, const char *what, const char *name)
{
	return failure_set(failure, error, "cannot %s %s: %m%s%s", what, name,
			   complaint[0] ? ": " : "", complaint);
}

static int pin_programs(struct enforce_bpf *skeleton, struct failure *failure)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skeleton->obj)
	{
		const char *name = bpf_program__name(program);
		char path[PIN_PATH_SIZE];

		if (!loader_is_pinned_program(program) || !bpf_program__autoload(program))
			continue;
		pin_path(path, PIN_PROGRAMS, name);
		if (bpf_obj_pin(bpf_program__fd(program), path) < 0)
			return pin_failed(failure, errno, "pin program", name);
	}
	return 0;
}

bool loader_is_pinned(const struct enforce_bpf *skeleton, const struct bpf_map *map)
{
	/* libbpf turns sections into maps; their names contain a dot. */
	return !strchr(bpf_map__name(map), '.') && map != skeleton->maps.meta;
}

static int pin_maps(struct enforce_bpf *skeleton, struct failure *failure)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, skeleton->obj)
	{
		const char *name = bpf_map__name(map);
		char path[PIN_PATH_SIZE];

		if (!loader_is_pinned(skeleton, map))
			continue;
		pin_path(path, PIN_MAPS, name);
		if (bpf_obj_pin(bpf_map__fd(map), path) < 0)
			return pin_failed(failure, errno, "pin map", name);
	}
	return 0;
}

/* One at a time. Before the first label is set, none of them has an effect. */
static int attach_programs(struct enforce_bpf *skeleton, int cgroup_fd, struct failure *failure)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skeleton->obj)
	{
		const char *name = bpf_program__name(program);
		struct bpf_link *link;
		char path[PIN_PATH_SIZE];
		int r;

		if (!loader_is_attached(program) || !bpf_program__autoload(program))
			continue;
		link = loader_is_for_cgroup(program)
			       ? bpf_program__attach_cgroup(program, cgroup_fd)
			       : bpf_program__attach(program);
		if (!link)
			return pin_failed(failure, errno, "attach program", name);
		pin_path(path, PIN_LINKS, name);
		r = bpf_link__pin(link, path);
		/* Closes this descriptor; the pin, if there is one, keeps the program attached. */
		bpf_link__destroy(link);
		if (r < 0)
			return pin_failed(failure, r, "pin link", name);
	}
	return 0;
}

static int write_meta(struct enforce_bpf *skeleton, struct failure *failure)
{
	struct cordon_meta meta = {.abi_version = CORDON_ABI_VERSION};
	int fd = bpf_map__fd(skeleton->maps.meta);
	__u32 key = 0;

	snprintf(meta.build_id, sizeof(meta.build_id), "%s", CORDON_BUILD_ID);
	if (bpf_map_update_elem(fd, &key, &meta, BPF_ANY) < 0)
		return pin_failed(failure, errno, "write map", "meta");
	if (bpf_obj_pin(fd, PIN_META) < 0)
		return pin_failed(failure, errno, "pin map", "meta");
	return 0;
}

/*
 * Does this kernel allow programs to write to user memory? Not under lockdown. libbpf detects this
 * by verifier messages that newer kernels have changed. So this loads a program that does nothing
 * else.
 */
static bool may_write_user(void)
{
	static const struct bpf_insn program[] = {
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD, .dst_reg = BPF_REG_2, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = 8},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_write_user},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	_cleanup_(closep) int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "cordon_probe",
						 "GPL", program, ARRAY_SIZE(program), NULL);

	return fd >= 0;
}

static int check_layout(const struct btf *btf, struct failure *failure)
{
	size_t size;
	const void *image = enforce_bpf__elf_bytes(&size);
	int r = layout_check(image, size, btf, failure);

	return r < 0 ? failure_set(failure, r, "cannot look at the types of the programs: %m") : 0;
}

int loader_open(struct enforce_bpf **ret_skeleton, struct failure *failure)
{
	_cleanup_(skeletonp) struct enforce_bpf *skeleton = NULL;
	_cleanup_(btfp) struct btf *btf = NULL;
	int r;

	complaint[0] = '\0';
	complained_of_kernel = false;
	libbpf_set_print(note_complaint);
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return failure_set(failure, EOPNOTSUPP,
				   "the kernel has no type information (/sys/kernel/btf/vmlinux): "
				   "it needs CONFIG_DEBUG_INFO_BTF; see `cordon doctor`");
	r = engine_register();
	if (r < 0)
		return failure_set(failure, r, "cannot prepare the load of the engine: %m");
	skeleton = enforce_bpf__open();
	if (!skeleton)
		return failure_set(failure, errno, "cannot open the BPF object: %m: %s", complaint);
	r = hooks_check(btf, failure);
	if (r == 0)
		r = check_layout(btf, failure);
	if (r < 0)
		return r;
	loader_choose_programs(skeleton->obj, btf);
	skeleton->rodata->may_write_user = may_write_user();
	*ret_skeleton = TAKE_PTR(skeleton);
	return 0;
}

static int set_addresses(struct enforce_bpf *skeleton, struct failure *failure)
{
	struct symbol symbols[] = {{.name = "rename_lock"}, {.name = "mount_lock"}};
	int r = symbols_find(SYMBOLS_FILE, symbols, ARRAY_SIZE(symbols), failure);

	if (r < 0)
		return r;
	skeleton->rodata->rename_lock = symbols[0].address;
	skeleton->rodata->mount_lock = symbols[1].address;
	return 0;
}

int loader_load(struct enforce_bpf *skeleton, struct failure *failure)
{
	struct load_progress progress;
	struct bpf_program *program;
	uint64_t programs = 0;
	int r = set_addresses(skeleton, failure);

	if (r < 0)
		return r;
	bpf_object__for_each_program(program, skeleton->obj)
		programs += bpf_program__autoload(program);
	load_progress_begin(&progress, programs);
	engine_begin(skeleton->obj);
	r = enforce_bpf__load(skeleton);
	load_progress_end(&progress);
	if (r < 0)
		return failure_set(failure, r,
				   "cannot load the BPF programs: %m: %s; see `cordon doctor`",
				   complaint);
	return 0;
}

int loader_load_and_pin(int cgroup_fd, struct failure *failure)
{
	_cleanup_(skeletonp) struct enforce_bpf *skeleton = NULL;
	int r;

	r = loader_open(&skeleton, failure);
	if (r == 0)
		r = loader_load(skeleton, failure);
	if (r < 0)
		return r;
	r = pins_prepare(failure);
	if (r == 0)
		r = pin_maps(skeleton, failure);
	if (r == 0)
		r = pin_programs(skeleton, failure);
	/* Before the programs are attached, so that none is without its engine. */
	if (r == 0)
		r = engine_attach(skeleton->obj, true, failure);
	if (r == 0)
		r = attach_programs(skeleton, cgroup_fd, failure);
	if (r == 0)
		r = write_meta(skeleton, failure);
	if (r < 0)
		(void)pins_remove(NULL);
	return r;
}

/* One at a time: a program that is attached twice counts everything twice. */
static int lock_links(struct failure *failure)
{
	int fd = open(PIN_LINKS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX) < 0) {
		int r = failure_set(failure, errno, "cannot lock %s: %m", PIN_LINKS);

		closep(&fd);
		return r;
	}
	return fd;
}

static int attach_extra(const char *name, struct failure *failure)
{
	_cleanup_(closep) int lock = -1, program = -1, link = -1;
	char path[PIN_PATH_SIZE];

	if (pin_has_link(name))
		return 0;
	lock = lock_links(failure);
	if (lock < 0 || pin_has_link(name))
		return lock < 0 ? lock : 0;
	program = pin_get(PIN_PROGRAMS, name);
	/* The program does not apply to this kernel: another one replaces it, or there is a gap. */
	if (program == -ENOENT)
		return 0;
	if (program < 0)
		return failure_set(failure, program, "cannot open the pinned program %s: %m", name);
	/* The load determined where it is attached. */
	link = bpf_raw_tracepoint_open(NULL, program);
	if (link < 0)
		return failure_set(failure, errno, "cannot attach program %s: %m", name);
	pin_path(path, PIN_LINKS, name);
	if (bpf_obj_pin(link, path) < 0)
		return failure_set(failure, errno, "cannot pin link %s: %m", name);
	return 0;
}

int loader_attach_extra(enum loader_extra extra, struct failure *failure)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(extra_programs); i++)
		if (extra_programs[i].extra == extra)
			r = attach_extra(extra_programs[i].program, failure);
	return r;
}
