/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Special names: symbolic links out of their bound directory, FIFOs and sockets. They redirect or
 * block programs outside that use the name. Under `special: deny` they may be created only if a
 * rule grants CORDON_SPECIAL. If a rule denies it, no symbolic link may be created at all. Even
 * inside the directory there are names that an executor may write, but not the execution.
 *
 * A relative link stays inside if ".." occurs only at the start of its text, and leads at most up
 * to the innermost bound directory. An absolute link stays inside if it begins with that
 * directory's resolved name, and contains no "..". A ".." after a component could follow another
 * link out. Without it, each component goes down, or follows a link that was checked as well.
 *
 * A directory with links may move if its new place is at least as deep. Its relative links then go
 * up no further than before.
 */
#ifndef CORDON_BPF_SPECIAL_BPF_H
#define CORDON_BPF_SPECIAL_BPF_H

#include "bpf/core/decide.bpf.h"

#define SPECIAL	     CORDON_RIGHT(CORDON_SPECIAL)
#define LINK_MAX     4096 /* PATH_MAX: longest text of a link */
#define LINK_UNKNOWN 0	  /* the address of the text if it is not available */

static __always_inline bool judges_special(const struct subject *s)
{
	return s->policy->flags & CORDON_POLICY_SPECIAL;
}

static __always_inline bool is_waited_for(__u32 mode)
{
	return (mode & S_IFMT) == S_IFIFO || (mode & S_IFMT) == S_IFSOCK;
}

/* Evaluates a component of the text. False: the link leads out. */
static __always_inline bool end_component(struct walk *walk, struct link_text *t)
{
	if (t->state == LINK_DIRECTORY) {
		if (t->length == 0)
			return true;
		if (t->length != component_length(walk, t->next - 1))
			return false;
		t->next--;
		if (t->next == walk->answer.below)
			t->state = LINK_DOWN;
	} else if (t->length == 2 && t->dots == 2) {
		if (t->state == LINK_DOWN || t->next == 0)
			return false;
		t->next--;
	} else if (t->length > 1 || (t->length == 1 && t->dots == 0)) {
		t->state = LINK_DOWN;
	}
	t->length = 0;
	t->dots = 0;
	return true;
}

static long read_link(__u32 index, void *context)
{
	struct walk *walk = *(struct walk **)context;
	struct link_text *t = &walk->text;
	__u8 byte = 0, same = 0;
	__u64 wanted;

	if (bpf_probe_read_kernel(&byte, 1, (const void *)(t->address + index)))
		return 1;
	if (byte == '/' || byte == 0) {
		if (!end_component(walk, t))
			return 1;
		/* An absolute text that ends before the directory's name is above the directory. */
		t->inside = byte == 0 && t->state != LINK_DIRECTORY;
		return byte == 0;
	}
	if (t->state == LINK_DIRECTORY) {
		wanted = component_name(walk, t->next - 1);
		if (t->length >= component_length(walk, t->next - 1) ||
		    bpf_probe_read_kernel(&same, 1, (const void *)(wanted + t->length)) ||
		    same != byte)
			return 1;
	}
	t->dots += byte == '.';
	t->length++;
	return 0;
}

/* Does a link with this text, at the name that was checked last, lead out? */
STUB int is_way_out(struct walk *walk, __u64 text)
{
	return 1;
}

__noinline int is_way_out_body(struct walk *walk, __u64 text)
{
	struct link_text *t;
	__u8 first = 0;

	if (!walk)
		return 1;
	t = &walk->text;
	if (text == LINK_UNKNOWN || bpf_probe_read_kernel(&first, 1, (const void *)text))
		return 1;
	t->address = text;
	t->length = 0;
	t->dots = 0;
	t->inside = 0;
	if (first == '/') {
		if (!walk->answer.below)
			return 1;
		t->next = walk->depth;
		t->state = walk->depth == walk->answer.below ? LINK_DOWN : LINK_DIRECTORY;
	} else {
		/* The link's own name is one of the components below. */
		t->next = walk->answer.below ? walk->answer.below - 1 : 0;
		t->state = LINK_UP;
	}
	bpf_loop(LINK_MAX, read_link, &walk, 0);
	return !t->inside;
}

static __always_inline bool leads_out(const struct subject *s, __u64 text)
{
	return is_way_out(s->walk, text);
}

/*
 * The text of an existing link, if the file system keeps it in memory with the inode
 * (inode.i_link). tmpfs, ext4 and xfs do so for short ones; btrfs, overlayfs and network file
 * systems never do.
 */
static __always_inline __u64 text_of(__u64 inode)
{
	return read_u64(FIELD(struct inode, inode, i_link));
}

/*
 * Called after a move's new name was granted: checks that the moved object does not lead elsewhere
 * from there. If denied, mv(1) creates the link again, and its text is checked.
 */
static __noinline void ask_special_move(const struct subject *s, const struct move *move)
{
	struct walk *walk = s->walk;
	const struct verdict *from = &walk->from.verdict;
	struct answer *to = &walk->answer;
	__u64 inode = read_u64(FIELD(struct dentry, move->from, d_inode));
	__u32 mode = read_u32(FIELD(struct inode, inode, i_mode)) & 0xffff;
	bool bad;

	if ((mode & S_IFMT) == S_IFLNK)
		bad = verdict_missing(&to->verdict, SPECIAL) &&
		      (verdict_denied(&to->verdict) & SPECIAL || leads_out(s, text_of(inode)));
	else if (is_waited_for(mode))
		bad = verdict_missing(&to->verdict, SPECIAL);
	else if (S_ISDIR(mode))
		bad = (to->verdict.may_deny & SPECIAL || !(to->verdict.must_allow & SPECIAL)) &&
		      (walk->answer.below < walk->from.below ||
		       (from->may_allow & SPECIAL && !same_tree_rights(walk)));
	else
		bad = false;
	if (!bad)
		return;
	to->reason = CORDON_REASON_WIDENS;
	to->rule = CORDON_NO_RULE;
	to->missing = SPECIAL;
	walk->move_error = -EXDEV;
}

#endif
