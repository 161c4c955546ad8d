/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What somebody outside who comes upon a name would be led away by, or wait for: symbolic links
 * that lead out of the bound directory that they lie in, FIFOs and sockets. Under `special: deny` a
 * name may become one only where a rule grants CORDON_SPECIAL; where a rule denies it, it becomes
 * no link at all, wherever that leads: even inside there are names that the execution may not
 * write, and an executor may.
 *
 * A link leads inside if its text is relative, goes up at its beginning only and no further than to
 * the innermost bound directory above it, or if it is absolute, begins with that directory's
 * resolved name and goes up nowhere. ".." behind a component could follow another link from
 * somewhere else; without it, each component leads down, or along a link that was judged as well.
 * What remains true when a directory moves is decided by how deep it lies: its links go up no
 * further than they could where it was.
 */
#ifndef CORDON_BPF_SPECIAL_BPF_H
#define CORDON_BPF_SPECIAL_BPF_H

#include "bpf/core/decide.bpf.h"

#define SPECIAL	     CORDON_RIGHT(CORDON_SPECIAL)
#define LINK_MAX     4096 /* PATH_MAX: no link's text is longer */
#define LINK_UNKNOWN 0	  /* the text's address, where it cannot be had */

static __always_inline bool judges_special(const struct subject *s)
{
	return s->policy->flags & CORDON_POLICY_SPECIAL;
}

static __always_inline bool is_waited_for(__u32 mode)
{
	return (mode & S_IFMT) == S_IFIFO || (mode & S_IFMT) == S_IFSOCK;
}

/* Behind a component of the text. false: it leads out. */
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
		/* An absolute name that ends before the directory's does is above it. */
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

/* Does a link of this text, with the name that was asked about last, lead out? */
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
		/* The link's own name is one of those below. */
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
 * The text of a link that exists, where its file system keeps it in memory with the inode
 * (inode.i_link): tmpfs, ext4 and xfs do for short ones, btrfs, overlayfs and network file systems
 * never.
 */
static __always_inline __u64 text_of(__u64 inode)
{
	return read_u64(FIELD(struct inode, inode, i_link));
}

/*
 * Behind the question about a move's new name, which was granted: what moves must not lead
 * elsewhere from there. mv(1) makes such a link anew, which is judged by its text.
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
		      (to->verdict.deny & SPECIAL || leads_out(s, text_of(inode)));
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
