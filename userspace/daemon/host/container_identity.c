/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what the engine of a container keeps about it. */
#include "daemon/host/container_identity.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/proc.h"
#include "daemon/host/container.h"

#define ID_LENGTH     64u
#define FILE_MAX      (4u << 20)
#define MOUNTINFO_MAX (4u << 20)
#define STATUS_MAX    (64u << 10)

bool container_id_of_cgroup(const char *path, char ret_id[65])
{
	bool found = false;

	/* The last: cgroups of a container's own may lie below, and the engine's is above. */
	for (const char *at = path; *at;) {
		size_t length = strspn(at, "0123456789abcdef");

		if (length == ID_LENGTH) {
			memcpy(ret_id, at, ID_LENGTH);
			ret_id[ID_LENGTH] = '\0';
			found = true;
		}
		at += length > 0 ? length : 1;
	}
	return found;
}

static char *copy_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? strdup(text) : NULL;
}

static bool is_it(const json_t *object, const char *key, const struct audit_container *container)
{
	const char *id = json_string_value(json_object_get(object, key));

	return id && container->id && strcmp(id, container->id) == 0;
}

static void put(char **text, char *value)
{
	free(*text);
	*text = value;
}

bool container_read_docker(const char *text, struct audit_container *container)
{
	_cleanup_(json_decrefp) json_t *config = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	const char *name = json_string_value(json_object_get(config, "Name"));

	if (!is_it(config, "ID", container))
		return false;
	/* Names of Docker's begin with a slash. */
	put(&container->name, name ? strdup(name + (name[0] == '/')) : NULL);
	put(&container->image, copy_text(json_object_get(config, "Config"), "Image"));
	put(&container->image_id, copy_text(config, "Image"));
	return true;
}

bool container_read_podman(const char *text, struct audit_container *container)
{
	_cleanup_(json_decrefp) json_t *list = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	const json_t *one, *names;
	size_t i;

	json_array_foreach(list, i, one) {
		if (!is_it(one, "id", container))
			continue;
		names = json_array_get(json_object_get(one, "names"), 0);
		put(&container->name,
		    json_is_string(names) ? strdup(json_string_value(names)) : NULL);
		put(&container->image_id, copy_text(one, "image"));
		return true;
	}
	return false;
}

static bool read_kept(const char *path, bool (*read)(const char *, struct audit_container *),
		      struct audit_container *container)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;

	return io_read_file(AT_FDCWD, path, FILE_MAX, &text, &size) == 0 && read(text, container);
}

/* `path` in place of its last `levels` components. */
static bool beside(char *path, unsigned int levels, const char *name)
{
	char *slash = NULL;

	for (; levels > 0; levels--) {
		slash = strrchr(path, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
	return strlen(path) + strlen(name) + 2 <= 2 * (size_t)PATH_MAX &&
	       strcat(strcat(path, "/"), name);
}

static bool ask_docker(pid_t pid, struct audit_container *container)
{
	_cleanup_(freep) char *host = NULL;
	_cleanup_(freep) char *its = NULL;
	char path[2 * PATH_MAX];
	size_t size;

	return proc_read(getpid(), "mountinfo", MOUNTINFO_MAX, &host, &size) == 0 &&
	       proc_read(pid, "mountinfo", MOUNTINFO_MAX, &its, &size) == 0 &&
	       container_find_mount(host, its, "/etc/hostname", path) &&
	       beside(path, 1, "config.v2.json") &&
	       read_kept(path, container_read_docker, container);
}

/* Where the runtime was told what to make, as crun ("bundle": ...) and runc (a label) keep it. */
static bool find_bundle(const char *text, char ret_path[2 * PATH_MAX])
{
	static const char label[] = "bundle=";
	_cleanup_(json_decrefp) json_t *state = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	const char *bundle = json_string_value(json_object_get(state, "bundle"));
	const json_t *labels = json_object_get(json_object_get(state, "config"), "labels"), *one;
	size_t i;

	json_array_foreach(labels, i, one) {
		const char *value = json_string_value(one);

		if (!bundle && value && strncmp(value, label, sizeof(label) - 1) == 0)
			bundle = value + sizeof(label) - 1;
	}
	if (!bundle || strlen(bundle) >= PATH_MAX)
		return false;
	strcpy(ret_path, bundle);
	return true;
}

static void ask_podman(struct audit_container *container)
{
	static const struct {
		const char *runtime, *file;
	} states[] = {{"crun", "status"}, {"runc", "state.json"}};
	char path[2 * PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		_cleanup_(freep) char *name = NULL;
		_cleanup_(freep) char *text = NULL;
		size_t size;

		if (asprintf(&name, "/run/%s/%s/%s", states[i].runtime, container->id,
			     states[i].file) < 0) {
			name = NULL;
			return;
		}
		/* STORAGE/overlay-containers/ID/userdata is the bundle. */
		if (io_read_file(AT_FDCWD, name, FILE_MAX, &text, &size) == 0 &&
		    find_bundle(text, path) && beside(path, 2, "containers.json") &&
		    read_kept(path, container_read_podman, container))
			return;
	}
}

void container_identify(pid_t pid, struct audit_container *ret_container)
{
	_cleanup_(freep) char *cgroup = NULL;
	char id[ID_LENGTH + 1];

	*ret_container = (struct audit_container){};
	if (proc_cgroup(pid, &cgroup) < 0 || !container_id_of_cgroup(cgroup, id))
		return;
	ret_container->id = strdup(id);
	if (ret_container->id && !ask_docker(pid, ret_container))
		ask_podman(ret_container);
}

bool container_status_of_first(const char *status)
{
	/* The ids in each namespace from ours on inwards; see proc(5). */
	const char *line = strstr(status, "\nNSpid:"), *end, *last;

	if (!line)
		return false;
	line++;
	end = strchrnul(line, '\n');
	last = memrchr(line, '\t', (size_t)(end - line));
	return last && memchr(line, '\t', (size_t)(last - line)) && end - last == 2 &&
	       last[1] == '1';
}

bool container_is_first(pid_t pid)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;

	return proc_read(pid, "status", STATUS_MAX, &text, &size) == 0 &&
	       container_status_of_first(text);
}
