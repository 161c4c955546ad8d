/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are attached to the cgroup above the executions' cgroups. */
#include "kernel/cgroup_links.h"

#include <bpf/bpf.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "bpf/abi.h"
#include "kernel/loader.h"
#include "kernel/pins.h"

static const struct {
	const char *name;
	enum bpf_attach_type type;
} programs[] = {
	{"cordon_egress", BPF_CGROUP_INET_EGRESS},
	{"cordon_ingress", BPF_CGROUP_INET_INGRESS},
	{"cordon_connect4", BPF_CGROUP_INET4_CONNECT},
	{"cordon_connect6", BPF_CGROUP_INET6_CONNECT},
	{"cordon_sendmsg4", BPF_CGROUP_UDP4_SENDMSG},
	{"cordon_sendmsg6", BPF_CGROUP_UDP6_SENDMSG},
	{"cordon_recvmsg4", BPF_CGROUP_UDP4_RECVMSG},
	{"cordon_recvmsg6", BPF_CGROUP_UDP6_RECVMSG},
	{"cordon_getpeername4", BPF_CGROUP_INET4_GETPEERNAME},
	{"cordon_getpeername6", BPF_CGROUP_INET6_GETPEERNAME},
};

static int attach_anew(const char *name, enum bpf_attach_type type, unsigned int program,
		       int cgroup_fd)
{
	_cleanup_(closep) int program_fd = bpf_prog_get_fd_by_id(program);
	_cleanup_(closep) int link_fd = -1;

	if (program_fd < 0)
		return -errno;
	link_fd = bpf_link_create(program_fd, cgroup_fd, type, NULL);
	if (link_fd < 0)
		return -errno;
	return pin_replace(link_fd, PIN_LINKS, name);
}

static int refresh(const char *name, enum bpf_attach_type type, unsigned long long cgroup_id,
		   int cgroup_fd)
{
	_cleanup_(closep) int fd = pin_get(PIN_LINKS, name);
	struct bpf_link_info info = {};
	unsigned int size = sizeof(info);

	/* Programs for host names are attached for the first policy that needs them. */
	if (fd == -ENOENT && loader_is_extra(name))
		return 0;
	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	/* The id is 0 after the cgroup was removed. */
	if (info.cgroup.cgroup_id == cgroup_id)
		return 0;
	return attach_anew(name, type, info.prog_id, cgroup_fd);
}

/* For programs that need to know whether a socket passes these. */
static int note_cgroup(unsigned long long cgroup_id)
{
	_cleanup_(closep) int fd = bpf_obj_get(PIN_META);
	struct cordon_meta meta;
	__u32 key = 0;

	if (fd < 0 || bpf_map_lookup_elem(fd, &key, &meta) < 0)
		return -errno;
	meta.cgroup = cgroup_id;
	return bpf_map_update_elem(fd, &key, &meta, BPF_ANY) < 0 ? -errno : 0;
}

int cgroup_links_refresh(int cgroup_fd, struct failure *failure)
{
	struct stat st;
	int r;

	/* A cgroup's inode number is its id. */
	if (fstat(cgroup_fd, &st) < 0)
		return failure_set(failure, errno, "cannot look at cordon's cgroup: %m");
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		r = refresh(programs[i].name, programs[i].type, st.st_ino, cgroup_fd);

		if (r < 0)
			return failure_set(failure, r, "cannot attach %s to cordon's cgroup: %m",
					   programs[i].name);
	}
	r = note_cgroup(st.st_ino);
	return r < 0 ? failure_set(failure, r, "cannot note cordon's cgroup: %m") : 0;
}

static int attach_pinned(const char *name, enum bpf_attach_type type, int cgroup_fd)
{
	_cleanup_(closep) int program = -1, link = -1;
	char path[PIN_PATH_SIZE];

	if (pin_has_link(name))
		return 0;
	program = pin_get(PIN_PROGRAMS, name);
	if (program < 0)
		return program;
	link = bpf_link_create(program, cgroup_fd, type, NULL);
	if (link < 0)
		return -errno;
	pin_path(path, PIN_LINKS, name);
	return bpf_obj_pin(link, path) < 0 ? -errno : 0;
}

int cgroup_links_attach_names(int cgroup_fd, struct failure *failure)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		int r = 0;

		if (loader_is_extra(programs[i].name))
			r = attach_pinned(programs[i].name, programs[i].type, cgroup_fd);
		if (r < 0)
			return failure_set(failure, r, "cannot attach %s to cordon's cgroup: %m",
					   programs[i].name);
	}
	return 0;
}
