/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces another build's programs one at a time, while executions are live under them. */
#include "kernel/upgrade.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/abi.h"
#include "build_id.h"
#include "enforce.skel.h"
#include "kernel/engine.h"
#include "kernel/loader.h"
#include "kernel/pins.h"

DEFINE_CLEANUP(struct enforce_bpf *, enforce_bpf__destroy, skeletonp)
DEFINE_CLEANUP(struct btf *, btf__free, btfp)
DEFINE_CLEANUP(struct btf_dump *, btf_dump__free, dumpp)

static int differs(struct failure *failure, const char *what, const char *name)
{
	return failure_set(failure, ESTALE, "%s %s is not the same in both builds", what, name);
}

/* --- can the maps be used? ---------------------------------------------------------------- */

static void append(void *context, const char *format, va_list args) _printf_(2, 0);

static void append(void *context, const char *format, va_list args)
{
	vfprintf(context, format, args);
}

/* A type with all its parts, as C; the caller frees it. NULL: none, or no memory. */
static char *spell_type(const struct btf *btf, unsigned int id)
{
	_cleanup_(dumpp) struct btf_dump *dump = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r;

	if (!out)
		return NULL;
	dump = btf_dump__new(btf, append, out, NULL);
	r = dump ? btf_dump__dump_type(dump, id) : -ENOMEM;
	if (fclose(out) != 0 || r < 0) {
		free(text);
		return NULL;
	}
	return text;
}

static bool same_type(const struct btf *a, unsigned int a_id, const struct btf *b,
		      unsigned int b_id)
{
	_cleanup_(freep) char *x = NULL, *y = NULL;

	/* 0: no type, as for rings. */
	if (a_id == 0 || b_id == 0)
		return a_id == b_id;
	x = spell_type(a, a_id);
	y = spell_type(b, b_id);
	return x && y && strcmp(x, y) == 0;
}

static bool same_shape(const struct bpf_map *map, const struct bpf_map_info *pinned)
{
	return bpf_map__type(map) == pinned->type && bpf_map__key_size(map) == pinned->key_size &&
	       bpf_map__value_size(map) == pinned->value_size &&
	       bpf_map__max_entries(map) == pinned->max_entries &&
	       bpf_map__map_flags(map) == pinned->map_flags;
}

static bool same_types(const struct bpf_object *object, const struct bpf_map *map,
		       const struct bpf_map_info *pinned)
{
	_cleanup_(btfp) struct btf *btf = NULL;
	const struct btf *own = bpf_object__btf(object);

	if (pinned->btf_id == 0)
		return true;
	btf = btf__load_from_kernel_by_id(pinned->btf_id);
	return btf && same_type(own, bpf_map__btf_key_type_id(map), btf, pinned->btf_key_type_id) &&
	       same_type(own, bpf_map__btf_value_type_id(map), btf, pinned->btf_value_type_id);
}

/* Returns 0, or 1 if no map has that name, and the load will create it. */
static int take_map(const struct bpf_object *object, struct bpf_map *map, struct failure *failure)
{
	const char *name = bpf_map__name(map);
	_cleanup_(closep) int fd = pin_get(PIN_MAPS, name);
	struct bpf_map_info info = {};
	unsigned int size = sizeof(info);
	int r;

	if (fd == -ENOENT)
		return 1;
	if (fd < 0)
		return failure_set(failure, fd, "cannot open the pinned map %s: %m", name);
	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return failure_set(failure, errno, "cannot look at the pinned map %s: %m", name);
	if (!same_shape(map, &info) || !same_types(object, map, &info))
		return differs(failure, "map", name);
	r = bpf_map__reuse_fd(map, fd);
	return r < 0 ? failure_set(failure, r, "cannot use the pinned map %s: %m", name) : 0;
}

/* The build id is written last. Until then, the pins count as the other build's. */
static int take_meta(struct enforce_bpf *skeleton, struct failure *failure)
{
	_cleanup_(closep) int fd = bpf_obj_get(PIN_META);
	struct bpf_map_info info = {};
	unsigned int size = sizeof(info);
	struct cordon_meta meta = {};
	__u32 key = 0;
	int r;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0 ||
	    info.value_size != sizeof(meta) || bpf_map_lookup_elem(fd, &key, &meta) < 0)
		return differs(failure, "map", "meta");
	if (meta.abi_version != CORDON_ABI_VERSION)
		return failure_set(failure, ESTALE,
				   "the ABI has version %u there, %u in this build",
				   meta.abi_version, CORDON_ABI_VERSION);
	r = bpf_map__reuse_fd(skeleton->maps.meta, fd);
	return r < 0 ? failure_set(failure, r, "cannot use the pinned map meta: %m") : 0;
}

/* --- putting this build's objects in place ------------------------------------------------ */

static int replace_pin(int fd, const char *directory, const char *name, struct failure *failure)
{
	int r = pin_replace(fd, directory, name);

	return r < 0 ? failure_set(failure, r, "cannot pin %s/%s: %m", directory, name) : 0;
}

static int pin_new_maps(struct enforce_bpf *skeleton, struct failure *failure)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, skeleton->obj)
	{
		char path[PIN_PATH_SIZE];

		if (!loader_is_pinned(skeleton, map))
			continue;
		pin_path(path, PIN_MAPS, bpf_map__name(map));
		if (access(path, F_OK) == 0)
			continue;
		if (bpf_obj_pin(bpf_map__fd(map), path) < 0)
			return failure_set(failure, errno, "cannot pin %s: %m", path);
	}
	return 0;
}

static int replace_programs(struct enforce_bpf *skeleton, struct failure *failure)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skeleton->obj)
	{
		int r;

		if (!loader_is_pinned_program(program) || !bpf_program__autoload(program))
			continue;
		r = replace_pin(bpf_program__fd(program), PIN_PROGRAMS, bpf_program__name(program),
				failure);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A link to a cgroup can exchange its program. */
static int update_link(const struct bpf_program *program, struct failure *failure)
{
	const char *name = bpf_program__name(program);
	_cleanup_(closep) int fd = pin_get(PIN_LINKS, name);

	if (fd < 0)
		return fd;
	if (bpf_link_update(fd, bpf_program__fd(program), NULL) < 0)
		return failure_set(failure, errno, "cannot replace program %s: %m", name);
	return 0;
}

static int replace_link(const struct bpf_program *program, int cgroup_fd, struct failure *failure)
{
	const char *name = bpf_program__name(program);
	struct bpf_link *link;
	unsigned int old;
	int r;

	if (loader_is_for_cgroup(program)) {
		r = update_link(program, failure);
		if (r != -ENOENT)
			return r;
	}
	old = pin_link_id(name);
	link = loader_is_for_cgroup(program) ? bpf_program__attach_cgroup(program, cgroup_fd)
					     : bpf_program__attach(program);
	if (!link)
		return failure_set(failure, errno, "cannot attach program %s: %m", name);
	r = replace_pin(bpf_link__fd(link), PIN_LINKS, name, failure);
	/* Closes this descriptor; the pin keeps the program attached. */
	bpf_link__destroy(link);
	/* Links are also removed one at a time. */
	if (r == 0 && old && pin_wait_until_gone(old) < 0)
		return failure_set(failure, EBUSY,
				   "program %s of the other build stays attached: another process "
				   "holds its link",
				   name);
	return r;
}

static int replace_links(struct enforce_bpf *skeleton, int cgroup_fd, struct failure *failure)
{
	struct bpf_program *program;
	int r = 0;

	bpf_object__for_each_program(program, skeleton->obj)
	{
		const char *name = bpf_program__name(program);
		/* Extras are replaced only if they are attached. */
		bool wanted = loader_is_attached(program) ||
			      (loader_is_extra(name) && pin_has_link(name));

		if (r == 0 && wanted && bpf_program__autoload(program))
			r = replace_link(program, cgroup_fd, failure);
	}
	return r;
}

/* --- objects of the other build only ------------------------------------------------------ */

static bool is_own_program(const char *name, void *context)
{
	const struct enforce_bpf *skeleton = context;
	const struct bpf_program *program = bpf_object__find_program_by_name(skeleton->obj, name);

	return program && bpf_program__autoload(program);
}

static bool is_own_map(const char *name, void *context)
{
	const struct enforce_bpf *skeleton = context;

	return bpf_object__find_map_by_name(skeleton->obj, name);
}

static int remove_others(struct enforce_bpf *skeleton, struct failure *failure)
{
	int r;

	(void)((r = pins_remove_others(PIN_LINKS, is_own_program, skeleton, failure)) < 0 ||
	       (r = pins_remove_others(PIN_PROGRAMS, is_own_program, skeleton, failure)) < 0 ||
	       (r = pins_remove_others(PIN_MAPS, is_own_map, skeleton, failure)) < 0);
	return r;
}

static int rewrite_meta(struct failure *failure)
{
	_cleanup_(closep) int fd = bpf_obj_get(PIN_META);
	struct cordon_meta meta;
	__u32 key = 0;

	if (fd < 0 || bpf_map_lookup_elem(fd, &key, &meta) < 0)
		return failure_set(failure, errno, "cannot note this build: %m");
	memset(meta.build_id, 0, sizeof(meta.build_id));
	snprintf(meta.build_id, sizeof(meta.build_id), "%s", CORDON_BUILD_ID);
	if (bpf_map_update_elem(fd, &key, &meta, BPF_ANY) < 0)
		return failure_set(failure, errno, "cannot note this build: %m");
	return 0;
}

/* ------------------------------------------------------------------------------------------ */

static int take_maps(struct enforce_bpf *skeleton, struct failure *failure)
{
	struct bpf_map *map;
	int r;

	bpf_object__for_each_map(map, skeleton->obj)
	{
		if (!loader_is_pinned(skeleton, map))
			continue;
		r = take_map(skeleton->obj, map, failure);
		if (r < 0)
			return r;
	}
	return 0;
}

int upgrade_pinned(int cgroup_fd, struct failure *failure)
{
	_cleanup_(skeletonp) struct enforce_bpf *skeleton = NULL;
	int r;

	r = loader_open(&skeleton, failure);
	if (r == 0)
		r = take_meta(skeleton, failure);
	if (r == 0)
		r = take_maps(skeleton, failure);
	if (r == 0)
		r = loader_load(skeleton, failure);
	if (r < 0)
		return r;
	/* Removes pins left by an interrupted upgrade. */
	(void)((r = pins_prepare(failure)) < 0 || (r = pins_clear_staging(failure)) < 0 ||
	       (r = pin_new_maps(skeleton, failure)) < 0 ||
	       /* Attached beside the other build's engine, before any program of this build. */
	       (r = engine_attach(skeleton->obj, true, failure)) < 0 ||
	       (r = replace_programs(skeleton, failure)) < 0 ||
	       (r = replace_links(skeleton, cgroup_fd, failure)) < 0 ||
	       (r = remove_others(skeleton, failure)) < 0 ||
	       (r = engine_remove_replaced(failure)) < 0 || (r = rewrite_meta(failure)) < 0);
	return r;
}
