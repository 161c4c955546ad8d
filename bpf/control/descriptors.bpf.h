/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Lists the descriptors that a labelled process keeps over an exec, and checks them with its
 * policy.
 */
#ifndef CORDON_BPF_DESCRIPTORS_BPF_H
#define CORDON_BPF_DESCRIPTORS_BPF_H

#include "bpf/core/elsewhere.bpf.h"
#include "bpf/hooks/open.bpf.h"

static __always_inline bool closes_on_exec(struct task_struct *task, __u32 fd)
{
	__u64 table = read_u64(FIELD(struct files_struct, read_task(task)->files, fdt));
	__u64 bits = read_u64(FIELD(struct fdtable, table, close_on_exec));

	return read_u64(bits + 8ull * (fd / 64)) >> (fd % 64) & 1;
}

static __always_inline __u32 descriptor_kind(enum object_class class)
{
	switch (class) {
	case CLASS_NAMED:
		return CORDON_DESCRIPTOR_FILE;
	case CLASS_STREAM:
		return CORDON_DESCRIPTOR_STREAM;
	case CLASS_MEMORY:
		return CORDON_DESCRIPTOR_MEMORY;
	default:
		return CORDON_DESCRIPTOR_OTHER;
	}
}

/*
 * Copies the name of the dentry, which identifies the type of an anonymous inode. Returns its
 * length.
 */
static __always_inline __u32 spell_last(struct dentry_link *link, __u64 dentry, __u8 *data)
{
	__u32 length;

	if (!read_dentry(dentry, link))
		return 0;
	length = link->length & CORDON_NAME_MAX;
	if (bpf_probe_read_kernel(data, length, (const void *)link->name))
		return 0;
	return length;
}

static __always_inline __u32 family_of(struct file *file)
{
	struct socket *sock = bpf_sock_from_file(file);

	return sock ? BPF_CORE_READ(sock, sk, __sk_common.skc_family) : 0;
}

static __always_inline __u32 judge_descriptor(struct subject *s, const struct file_object *o,
					      struct cordon_descriptor_record *record, __u8 *name)
{
	__u32 flags = o->name_flags | (S_ISDIR(o->mode) ? NAME_LISTING : 0), total;

	if (o->class != CLASS_NAMED)
		return spell_last(&s->walk->link, o->dentry, name);
	put_name(s, o->dentry, o->vfsmount, NAME_QUESTION(record->rights, flags));
	/* Like ask_whole_body(), without its stack frame: the stack has no room. */
	ask_by_mount_used(s);
	ask_other_names(s);
	record->missing = s->walk->answer.missing;
	return spell_path(s->walk, name, &total);
}

/* A descriptor that cannot be checked counts as not granted. */
static __noinline void write_unchecked(struct seq_file *seq, __u32 fd)
{
	struct cordon_descriptor_record record = {.fd = fd, .kind = CORDON_DESCRIPTOR_OTHER};

	bpf_seq_write(seq, &record, sizeof(record));
}

/*
 * Writes a record, followed by a name, for each descriptor of the tasks that the iterator visits.
 */
SEC("iter/task_file")
int cordon_list_descriptors(struct bpf_iter__task_file *ctx)
{
	struct cordon_descriptor_record *record;
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct event_scratch *scratch;
	const struct label *label;
	struct subject s = {};
	struct file_object *o;
	__u32 length;

	if (!task || !file || task->pid != task->tgid)
		return 0;
	label = label_of_address((__u64)task);
	if (!label || closes_on_exec(task, ctx->fd))
		return 0;
	s.label = *label;
	scratch = event_scratch();
	/* Descriptors of an adopted process are listed while it is held. */
	if (!scratch || subject_resolve_held(&s, true) != SUBJECT_EXECUTION ||
	    !subject_need_walk(&s)) {
		write_unchecked(ctx->meta->seq, ctx->fd);
		return 0;
	}
	/* Both are in the scratch, because the stack has no room. */
	record = (struct cordon_descriptor_record *)scratch->header;
	record->fd = ctx->fd;
	record->missing = 0;
	o = (struct file_object *)(record + 1);
	inspect_file((__u64)file, o);
	record->family = family_of(file);
	record->kind = descriptor_kind(o->class);
	record->mode = o->mode;
	record->magic = read_u64(FIELD(struct super_block,
				       read_u64(FIELD(struct dentry, o->dentry, d_sb)), s_magic));
	record->rights = rights_of_open(read_u32(FIELD(struct file, file, f_mode)), 0);
	length = judge_descriptor(&s, o, record, scratch->data) & (2 * CORDON_EVENT_LARGE - 1);
	if (length > CORDON_EVENT_LARGE)
		length = CORDON_EVENT_LARGE;
	record->name_length = length;
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
	bpf_seq_write(ctx->meta->seq, scratch->data, length);
	subject_put(&s);
	return 0;
}

#endif
