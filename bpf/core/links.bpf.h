/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Regular files with more than one name. Package stores, `git clone --local` and `cp -al` create
 * hard links, and a write by one name changes the file for all names. Such a file may therefore be
 * changed only in two cases. A rule with `links: shared` grants it (CORDON_LINKS), or the execution
 * made the other names itself. Replacing the file is no change: the other names keep the old one.
 *
 * A link is the execution's own if it could write both names. It was then made under the same
 * policy, in the same session or work directory. Both names were below one directory, which is
 * bound now as it was then. A link from one bound directory into another thus gives an execution
 * that has only the latter no way to write to the former. The link count is recorded when a link is
 * made and when a name is removed. If another program adds a name, the count no longer matches.
 */
#ifndef CORDON_BPF_LINKS_BPF_H
#define CORDON_BPF_LINKS_BPF_H

#include "bpf/core/decide.bpf.h"
#include "bpf/core/temporary.bpf.h"

#define LINKED_MAX 32768u

struct own_links {
	__u64 maker; /* maker_of_links() */
	/* directory above all names, as in struct cordon_anchor */
	__u64 directory;
	__u32 device;
	__u32 generation;
	__u32 links; /* inode.i_nlink, while no other program adds or removes a name */
	__u32 reserved;
};

/*
 * Files with further names that executions have made. After an entry is evicted, its file can no
 * longer be changed.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, LINKED_MAX);
	__type(key, struct temporary_file);
	__type(value, struct own_links);
} own_links SEC(".maps");

static __always_inline __u64 maker_of_links(const struct cordon_execution *execution,
					    const struct cordon_policy_header *policy)
{
	return mix(execution->temporary_owner, *(const __u64 *)policy->digest);
}

static __always_inline bool is_bound(const struct cordon_execution *execution,
				     const struct own_links *own)
{
	bool bound = false;

#pragma unroll
	for (__u32 n = 0; n < CORDON_MAX_ANCHORS; n++)
		bound = bound || (execution->anchors[n].inode == own->directory &&
				  execution->anchors[n].device == own->device &&
				  execution->anchors[n].generation == own->generation);
	return bound;
}

/*
 * Has the execution, or one that could write all names of the file, made all names except the
 * first? `inode` points to the inode's address instead of passing it: the verifier may see the
 * address as a pointer, and accepts only numbers.
 */
__noinline int has_own_links(struct cordon_execution *execution, struct policy_page *policy,
			     const __u64 *inode)
{
	struct temporary_file file;
	const struct own_links *own;

	if (!execution || !policy || !inode)
		return 0;
	temporary_identify(*inode, &file);
	own = bpf_map_lookup_elem(&own_links, &file);
	return own && own->links == read_u32(FIELD(struct inode, *inode, i_nlink)) &&
	       own->maker ==
		       maker_of_links(execution, (const struct cordon_policy_header *)policy) &&
	       is_bound(execution, own);
}

/* Rights for changing an object with this mode and link count. */
static __always_inline __u32 rights_to_change(const struct subject *s, __u64 inode, __u32 mode,
					      __u32 links)
{
	if ((mode & S_IFMT) != S_IFREG || links <= 1 ||
	    has_own_links(s->execution, (struct policy_page *)s->policy, &inode))
		return WRITE;
	return WRITE | LINKS;
}

static __always_inline __u32 rights_to_change_inode(const struct subject *s, __u64 inode)
{
	return rights_to_change(s, inode, read_u32(FIELD(struct inode, inode, i_mode)) & 0xffff,
				read_u32(FIELD(struct inode, inode, i_nlink)));
}

static __always_inline void forget_links(const struct temporary_file *file)
{
	bpf_map_delete_elem(&own_links, file);
}

/* A name of the file is about to be removed. */
static __noinline void note_unlinked(__u64 inode)
{
	__u32 links = read_u32(FIELD(struct inode, inode, i_nlink));
	struct temporary_file file;
	struct own_links *own;

	if (links <= 1)
		return;
	temporary_identify(inode, &file);
	own = bpf_map_lookup_elem(&own_links, &file);
	if (own)
		own->links = links - 1;
}

/* Bits of the bound directories that are above a name. */
static __always_inline __u32 bound_above(const struct subject *s, __u64 dentry, __u64 mount)
{
	const struct walk *walk = s->walk;
	__u32 bound = 0;

	/*
	 * NAME_SPELLED makes the walk start at the root, so that it passes all bound directories.
	 */
	ask_name(s, dentry, mount, NAME_QUESTION(WRITE, NAME_SPELLED));
#pragma unroll
	for (__u32 n = 0; n < NAME_RUNS; n++)
		if (n < walk->run_count && walk->runs[n].number >= RUN_ANCHOR)
			bound |= 1u << ((walk->runs[n].number - RUN_ANCHOR) &
					(CORDON_MAX_ANCHORS - 1));
	return bound;
}

/*
 * A link was granted. If both names are below one bound directory, the link becomes the execution's
 * own.
 */
static __always_inline void await_link(const struct subject *s)
{
	const struct move *move = &s->walk->moves[0];
	__u64 inode = read_u64(FIELD(struct dentry, move->from, d_inode));
	__u32 links = read_u32(FIELD(struct inode, inode, i_nlink)), bound;

	if (links != 1 && !has_own_links(s->execution, (struct policy_page *)s->policy, &inode))
		return;
	bound = bound_above(s, move->from, move->from_mount);
	bound &= bound_above(s, move->to, move->to_mount);
	if (bound)
		await_inode(move->to, 1 + lowest_bit(bound));
}

/* The link was made, and the kernel has counted it. */
static __noinline void note_linked(const struct cordon_execution *execution,
				   const struct cordon_policy_header *policy, __u64 inode,
				   __u32 directory)
{
	const struct cordon_anchor *anchor =
		&execution->anchors[directory & (CORDON_MAX_ANCHORS - 1)];
	struct own_links own = {
		.maker = maker_of_links(execution, policy),
		.directory = anchor->inode,
		.device = anchor->device,
		.generation = anchor->generation,
		.links = read_u32(FIELD(struct inode, inode, i_nlink)),
	};
	struct temporary_file file;

	if (!anchor->inode)
		return;
	temporary_identify(inode, &file);
	bpf_map_update_elem(&own_links, &file, &own, BPF_ANY);
}

#endif
