/* SPDX-License-Identifier: Apache-2.0 */
/* Policies in kernel memory. Each is one inner array map, named by its index and the map's id. */
#include <bpf/bpf.h>
#include <string.h>

#include "kernel/handle.h"

static int create_pages(const unsigned char *tables, size_t size)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_INNER_MAP);
	__u32 pages = (__u32)(size / CORDON_PAGE_SIZE);
	_cleanup_(closep) int fd = -1;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "cordon_policy", sizeof(__u32), CORDON_PAGE_SIZE,
			    pages, &options);
	if (fd < 0)
		return -errno;
	for (__u32 page = 0; page < pages; page++)
		if (bpf_map_update_elem(fd, &page, tables + (size_t)page * CORDON_PAGE_SIZE,
					BPF_ANY) < 0)
			return -errno;
	/* A policy that may be active must not change. */
	if (bpf_map_freeze(fd) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static int map_id(int fd, __u32 *ret_id)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	*ret_id = info.id;
	return 0;
}

int enforcement_policy_add(struct enforcement *e, const unsigned char *tables, size_t size,
			   uint64_t *ret_ref)
{
	_cleanup_(closep) int fd = -1;
	__u32 id = 0, present;
	int r;

	if (size == 0 || size % CORDON_PAGE_SIZE != 0)
		return -EINVAL;
	if (size / CORDON_PAGE_SIZE > CORDON_MAX_PAGES)
		return -E2BIG;
	fd = create_pages(tables, size);
	if (fd < 0)
		return fd;
	r = map_id(fd, &id);
	if (r < 0)
		return r;
	for (__u32 slot = 0; slot < CORDON_MAX_POLICIES; slot++) {
		if (bpf_map_lookup_elem(e->policies_fd, &slot, &present) == 0)
			continue;
		if (bpf_map_update_elem(e->policies_fd, &slot, &fd, BPF_ANY) < 0)
			return -errno;
		*ret_ref = CORDON_POLICY_REF(slot, id);
		return 0;
	}
	return -ENOSPC;
}

static bool is_resident(struct enforcement *e, uint64_t ref)
{
	__u32 slot = CORDON_POLICY_SLOT(ref), id;

	return bpf_map_lookup_elem(e->policies_fd, &slot, &id) == 0 &&
	       id == CORDON_POLICY_GENERATION(ref);
}

int enforcement_policy_remove(struct enforcement *e, uint64_t ref)
{
	__u32 slot = CORDON_POLICY_SLOT(ref);

	if (!is_resident(e, ref))
		return -ENOENT;
	/* Waits for a grace period: no program reads the pages when this returns. */
	if (bpf_map_delete_elem(e->policies_fd, &slot) < 0)
		return -errno;
	return 0;
}

int enforcement_policy_settle(struct enforcement *e, uint64_t ref)
{
	_cleanup_(closep) int fd = -1;
	__u32 slot = CORDON_POLICY_SLOT(ref);

	if (!is_resident(e, ref))
		return -ENOENT;
	fd = bpf_map_get_fd_by_id(CORDON_POLICY_GENERATION(ref));
	if (fd < 0)
		return -errno;
	/*
	 * Replaces the map by itself. This changes nothing, but waits for a grace period
	 * (maybe_wait_bpf_programs() in kernel/bpf/syscall.c). A program runs within one read-side
	 * critical section.
	 */
	if (bpf_map_update_elem(e->policies_fd, &slot, &fd, BPF_ANY) < 0)
		return -errno;
	return 0;
}

int enforcement_policy_digest(struct enforcement *e, uint64_t ref, unsigned char ret_digest[32])
{
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) unsigned char *page = NULL;
	const __u32 first = 0;

	if (!is_resident(e, ref))
		return -ENOENT;
	fd = bpf_map_get_fd_by_id(CORDON_POLICY_GENERATION(ref));
	if (fd < 0)
		return -errno;
	page = malloc(CORDON_PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	if (bpf_map_lookup_elem(fd, &first, page) < 0)
		return -errno;
	memcpy(ret_digest, page + offsetof(struct cordon_policy_header, digest), 32);
	return 0;
}
