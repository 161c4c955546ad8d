/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the engine's programs after the LSM programs, and attaches them to those.
 *
 * bpf_program__attach_freplace() would read all types of the target for each link. The programs of
 * one object share their types, so that a function has the same number in each of them.
 */
#include "kernel/engine.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/pins.h"

#define MAX_FUNCTIONS 256 /* of one program */
#define MAX_TARGETS   512 /* pinned programs and links */

struct functions {
	struct bpf_func_info at[MAX_FUNCTIONS];
	unsigned int count;
	unsigned int type; /* enum bpf_prog_type of the program */
	unsigned int id;   /* of the program */
	unsigned int btf;  /* BTF id of its types */
};

static struct bpf_object *object_to_load;

static bool is_engine(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_EXT;
}

/* FUNCTION in SEC("freplace/FUNCTION"). */
static const char *replaced_function(const struct bpf_program *program)
{
	const char *slash = strchr(bpf_program__section_name(program), '/');

	return slash ? slash + 1 : "";
}

/* Returns 0 if there is no such function. */
static unsigned int function_type(const struct bpf_object *object, const char *function)
{
	int id = btf__find_by_name_kind(bpf_object__btf(object), function, BTF_KIND_FUNC);

	return id < 0 ? 0 : (unsigned int)id;
}

static int read_functions(int fd, struct functions *ret_functions)
{
	struct bpf_prog_info info = {
		.nr_func_info = MAX_FUNCTIONS,
		.func_info_rec_size = sizeof(ret_functions->at[0]),
		.func_info = (unsigned long)ret_functions->at,
	};
	unsigned int size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	if (info.nr_func_info > MAX_FUNCTIONS)
		return -E2BIG;
	ret_functions->count = info.nr_func_info;
	ret_functions->type = info.type;
	ret_functions->id = info.id;
	ret_functions->btf = info.btf_id;
	return 0;
}

static bool has_function(const struct functions *functions, unsigned int type)
{
	for (unsigned int i = 0; i < functions->count; i++)
		if (functions->at[i].type_id == type)
			return true;
	return false;
}

/* --- loading ------------------------------------------------------------------------------ */

/* A loaded LSM program with the function: the kernel compares the two signatures. */
static int find_target(struct bpf_object *object, unsigned int type)
{
	struct functions functions;
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		int fd = bpf_program__fd(program);

		if (bpf_program__type(program) == BPF_PROG_TYPE_LSM && fd >= 0 &&
		    read_functions(fd, &functions) == 0 && has_function(&functions, type))
			return fd;
	}
	return -ENOENT;
}

static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	unsigned int type;
	int fd;

	(void)cookie;
	if (!object_to_load)
		return -EINVAL;
	type = function_type(object_to_load, replaced_function(program));
	fd = type ? find_target(object_to_load, type) : -ENOENT;
	if (fd < 0)
		return fd;
	options->attach_prog_fd = (unsigned int)fd;
	options->attach_btf_id = type;
	return 0;
}

int engine_register(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, options, .prog_prepare_load_fn = prepare);
	static int handler;

	if (handler <= 0)
		handler = libbpf_register_prog_handler("freplace+", BPF_PROG_TYPE_EXT,
						       (enum bpf_attach_type)0, &options);
	return handler < 0 ? handler : 0;
}

void engine_begin(struct bpf_object *object)
{
	object_to_load = object;
}

/* --- attaching ---------------------------------------------------------------------------- */

static void link_path(char path[PIN_PATH_SIZE], const char *program, const char *function,
		      unsigned int id)
{
	snprintf(path, PIN_PATH_SIZE, "%s/%s:%s:%u", PIN_ENGINE, program, function, id);
}

static int attach_one(const struct bpf_program *engine, const struct bpf_program *program,
		      unsigned int id, unsigned int type, bool pin, struct failure *failure)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .target_btf_id = type);
	const char *name = bpf_program__name(program), *function = replaced_function(engine);
	_cleanup_(closep) int link = bpf_link_create(bpf_program__fd(engine),
						     bpf_program__fd(program),
						     (enum bpf_attach_type)0, &options);
	char path[PIN_PATH_SIZE];

	if (link < 0)
		return failure_set(failure, errno, "cannot replace %s() in program %s: %m",
				   function, name);
	if (!pin)
		return 0;
	link_path(path, name, function, id);
	if (bpf_obj_pin(link, path) < 0)
		return failure_set(failure, errno, "cannot pin link %s: %m", path);
	return 0;
}

/* Attaches all functions of the engine to one program. */
static int attach_to(struct bpf_object *object, const struct bpf_program *program, bool pin,
		     struct failure *failure)
{
	struct functions functions;
	struct bpf_program *engine;
	int r = read_functions(bpf_program__fd(program), &functions);

	if (r < 0)
		return failure_set(failure, r, "cannot look at program %s: %m",
				   bpf_program__name(program));
	bpf_object__for_each_program(engine, object)
	{
		unsigned int type;

		if (!is_engine(engine))
			continue;
		type = function_type(object, replaced_function(engine));
		if (!type || !has_function(&functions, type))
			continue;
		/* Otherwise its stub would remain. */
		if (functions.type != BPF_PROG_TYPE_LSM)
			return failure_set(failure, EINVAL,
					   "internal error: program %s calls %s(), which is "
					   "replaced in LSM programs only",
					   bpf_program__name(program), replaced_function(engine));
		r = attach_one(engine, program, functions.id, type, pin, failure);
		if (r < 0)
			return r;
	}
	return 0;
}

int engine_attach(struct bpf_object *object, bool pin, struct failure *failure)
{
	struct bpf_program *program;
	int r = 0;

	bpf_object__for_each_program(program, object) if (r == 0 && bpf_program__fd(program) >= 0)
		r = attach_to(object, program, pin, failure);
	return r;
}

/* --- pinned programs and links ------------------------------------------------------------ */

/* The LSM program of a pinned link, or a pinned program. */
static int pinned_program(const char *directory, const char *name)
{
	_cleanup_(closep) int fd = pin_get(directory, name);
	struct bpf_link_info info = {};
	unsigned int size = sizeof(info);

	if (fd < 0)
		return fd;
	if (strcmp(directory, PIN_LINKS) != 0)
		return TAKE_FD(fd);
	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	return bpf_prog_get_fd_by_id(info.prog_id);
}

/* The kernel truncates names. */
static bool is_program(unsigned int id, const char *name)
{
	_cleanup_(closep) int fd = bpf_prog_get_fd_by_id(id);
	struct bpf_prog_info info = {};
	unsigned int size = sizeof(info);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	       info.type == BPF_PROG_TYPE_EXT &&
	       strncmp(name, info.name, BPF_OBJ_NAME_LEN - 1) == 0;
}

static bool is_replaced(const char *program, const struct bpf_program *engine, unsigned int id,
			unsigned int type)
{
	_cleanup_(closep) int fd = -1;
	struct bpf_link_info info = {};
	unsigned int size = sizeof(info);
	char path[PIN_PATH_SIZE];

	link_path(path, program, replaced_function(engine), id);
	fd = bpf_obj_get(path);
	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	       info.type == BPF_LINK_TYPE_TRACING && info.tracing.target_obj_id == id &&
	       info.tracing.target_btf_id == type &&
	       is_program(info.prog_id, bpf_program__name(engine));
}

struct types {
	struct btf *btf;
	unsigned int id;
};

/* Programs of one build share their types: read them once. */
static const struct btf *types_of(struct types *types, unsigned int id)
{
	if (types->id != id || !types->btf) {
		btf__free(types->btf);
		types->btf = btf__load_from_kernel_by_id(id);
		types->id = id;
	}
	return types->btf;
}

static bool is_complete_in(const struct bpf_object *object, const char *directory, const char *name,
			   struct types *types)
{
	_cleanup_(closep) int fd = pinned_program(directory, name);
	struct functions functions;
	struct bpf_program *engine;
	const struct btf *btf;

	if (fd < 0 || read_functions(fd, &functions) < 0)
		return false;
	if (functions.type != BPF_PROG_TYPE_LSM)
		return true;
	btf = types_of(types, functions.btf);
	if (!btf)
		return false;
	/* By name, because a build that is being replaced may have other numbers. */
	bpf_object__for_each_program(engine, object)
	{
		int type;

		if (!is_engine(engine))
			continue;
		type = btf__find_by_name_kind(btf, replaced_function(engine), BTF_KIND_FUNC);
		if (type > 0 && has_function(&functions, (unsigned int)type) &&
		    !is_replaced(name, engine, functions.id, (unsigned int)type))
			return false;
	}
	return true;
}

bool engine_is_complete(const struct bpf_object *object)
{
	static const char *const directories[] = {PIN_LINKS, PIN_PROGRAMS};
	struct types types = {};
	bool complete = true;

	for (size_t i = 0; complete && i < ARRAY_SIZE(directories); i++) {
		_cleanup_(closedirp) DIR *dir = opendir(directories[i]);
		struct dirent *entry;

		complete = dir;
		while (complete && (entry = readdir(dir)))
			if (entry->d_name[0] != '.')
				complete = is_complete_in(object, directories[i], entry->d_name,
							  &types);
	}
	btf__free(types.btf);
	return complete;
}

struct targets {
	unsigned int ids[MAX_TARGETS];
	size_t count;
};

static int note_targets(const char *directory, struct targets *targets)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		_cleanup_(closep) int fd = -1;
		struct bpf_prog_info info = {};
		unsigned int size = sizeof(info);

		if (entry->d_name[0] == '.')
			continue;
		fd = pinned_program(directory, entry->d_name);
		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
			return fd < 0 ? fd : -errno;
		if (targets->count == MAX_TARGETS)
			return -E2BIG;
		targets->ids[targets->count++] = info.id;
	}
	return 0;
}

static bool is_of_target(const char *name, void *context)
{
	const struct targets *targets = context;
	const char *colon = strrchr(name, ':');
	unsigned long id = colon ? strtoul(colon + 1, NULL, 10) : 0;

	for (size_t i = 0; i < targets->count; i++)
		if (targets->ids[i] == id)
			return true;
	return false;
}

int engine_remove_replaced(struct failure *failure)
{
	struct targets targets = {};
	int r = note_targets(PIN_LINKS, &targets);

	if (r == 0)
		r = note_targets(PIN_PROGRAMS, &targets);
	if (r < 0)
		return failure_set(failure, r, "cannot look at the pinned programs: %m");
	return pins_remove_others(PIN_ENGINE, is_of_target, &targets, failure);
}
