/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Checks on mode, owner, times and extended attributes. A change is a write to the object. Reading
 * the value of an extended attribute is a read.
 */
#ifndef CORDON_BPF_HOOK_ATTRIBUTES_BPF_H
#define CORDON_BPF_HOOK_ATTRIBUTES_BPF_H

#include "bpf/core/links.bpf.h"
#include "bpf/core/mountless.bpf.h"
#include "bpf/core/object.bpf.h"
#include "bpf/core/credentials.bpf.h"

static __always_inline int judge_attribute(const struct path *path, __u32 operation, int ret)
{
	struct file_object o;
	struct subject s;
	__u32 rights;

	ENTER(&s, ret);
	if (!inspect(path, &o))
		return LEAVE(&s, deny_unasked(&s, operation));
	if (o.class != CLASS_NAMED)
		return LEAVE(&s, o.class == CLASS_NAMESPACE ? deny_unasked(&s, operation) : 0);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, operation));
	rights = rights_to_change(&s, o.inode, o.mode, o.links);
	ask_name(&s, o.dentry, o.vfsmount,
		 NAME_QUESTION(rights, o.name_flags | spelled_change(&s)));
	return LEAVE(&s, decide_change(&s, operation, error_of_change(&s), WRITE));
}

static __always_inline int refuse_set_id(const struct path *path, int ret)
{
	const __u32 right = CORDON_RIGHT(CORDON_WRITE);
	struct file_object o;
	struct subject s;

	ENTER(&s, ret);
	if (!inspect(path, &o) || !subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_CHMOD));
	ask_name(&s, o.dentry, o.vfsmount, NAME_QUESTION(right, o.name_flags | NAME_SPELLED));
	answer_unnamed(&s.walk->answer, right, CORDON_REASON_BUILTIN);
	return LEAVE(&s, decide_path(&s, CORDON_OP_CHMOD, -EPERM));
}

SEC("lsm/path_chmod")
int BPF_PROG(cordon_path_chmod, const struct path *path, umode_t mode, int ret)
{
	const struct inode *inode = path->dentry->d_inode;

	if (inode && is_set_id(inode->i_mode, mode))
		return refuse_set_id(path, ret);
	return judge_attribute(path, CORDON_OP_CHMOD, ret);
}

SEC("lsm/path_chown")
int BPF_PROG(cordon_path_chown, const struct path *path, unsigned int uid, unsigned int gid,
	     int ret)
{
	return judge_attribute(path, CORDON_OP_CHOWN, ret);
}

/* For hooks with a dentry but no mount. */
static __always_inline int judge_dentry(struct dentry *dentry, __u32 operation, int ret)
{
	struct subject s;
	__u64 inode;

	if (ret || kernel_acts_for_itself())
		return ret;
	ENTER(&s, ret);
	/*
	 * Read as a plain number, because the verifier rejects arithmetic on a pointer that may be
	 * NULL.
	 */
	inode = read_u64(FIELD(struct dentry, dentry, d_inode));
	return LEAVE(&s,
		     decide_mountless(&s, operation, dentry, rights_to_change_inode(&s, inode), 0));
}

/* Hooks with a mount have checked mode, owner and size. Only the times remain. */
static __always_inline bool only_times(const struct iattr *attr)
{
	return !(attr->ia_valid & (ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_SIZE)) &&
	       (attr->ia_valid & (ATTR_ATIME | ATTR_MTIME));
}

SEC("?lsm/inode_setattr")
int BPF_PROG(cordon_inode_setattr, struct mnt_idmap *idmap, struct dentry *dentry,
	     struct iattr *attr, int ret)
{
	if (ret || !only_times(attr))
		return ret;
	return judge_dentry(dentry, CORDON_OP_SETATTR, ret);
}

/* Before Linux 6.6 the hook had no first argument. */
SEC("?lsm/inode_setattr")
int BPF_PROG(cordon_inode_setattr_2, struct dentry *dentry, struct iattr *attr, int ret)
{
	if (ret || !only_times(attr))
		return ret;
	return judge_dentry(dentry, CORDON_OP_SETATTR, ret);
}

SEC("lsm/inode_setxattr")
int BPF_PROG(cordon_inode_setxattr, void *idmap, struct dentry *dentry, const char *name,
	     const void *value, size_t size, int flags, int ret)
{
	return judge_dentry(dentry, CORDON_OP_SETXATTR, ret);
}

SEC("lsm/inode_removexattr")
int BPF_PROG(cordon_inode_removexattr, void *idmap, struct dentry *dentry, const char *name,
	     int ret)
{
	return judge_dentry(dentry, CORDON_OP_SETXATTR, ret);
}

/* Since Linux 6.2. Before, access control lists were set through inode_setxattr. */
SEC("?lsm/inode_set_acl")
int BPF_PROG(cordon_inode_set_acl, void *idmap, struct dentry *dentry, const char *name,
	     struct posix_acl *acl, int ret)
{
	return judge_dentry(dentry, CORDON_OP_SETXATTR, ret);
}

/* Since Linux 6.2. Before, access control lists were removed through inode_removexattr. */
SEC("?lsm/inode_remove_acl")
int BPF_PROG(cordon_inode_remove_acl, void *idmap, struct dentry *dentry, const char *name, int ret)
{
	return judge_dentry(dentry, CORDON_OP_SETXATTR, ret);
}

/*
 * Does this extended attribute contain data of users or file systems? Attributes of security
 * modules and access control lists are metadata.
 */
static __always_inline bool contains_data(const char *name)
{
	char start[10] = {};

	bpf_probe_read_kernel_str(start, sizeof(start), name);
	return __builtin_memcmp(start, "security.", 9) != 0 &&
	       __builtin_memcmp(start, "system.", 7) != 0;
}

static __always_inline int judge_data_of(struct subject *s, const struct dentry *dentry)
{
	const struct inode *inode = dentry->d_inode;

	/* Memory without a name is reached only by a descriptor. */
	if (dentry->d_sb->s_flags & (SB_KERNMOUNT | SB_NOUSER))
		return 0;
	return decide_mountless(s, CORDON_OP_METADATA, dentry, CORDON_RIGHT(CORDON_READ),
				inode && S_ISDIR(inode->i_mode) ? NAME_LISTING : 0);
}

SEC("lsm/inode_getxattr")
int BPF_PROG(cordon_inode_getxattr, struct dentry *dentry, const char *name, int ret)
{
	struct subject s;

	if (ret || kernel_acts_for_itself())
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s, contains_data(name) ? judge_data_of(&s, dentry) : 0);
}

/*
 * Flags, project and extent sizes, by file_setattr(2) and by ioctl. Since Linux 6.17; before, only
 * the ioctl existed.
 */
SEC("?lsm/inode_file_setattr")
int BPF_PROG(cordon_inode_file_setattr, struct dentry *dentry, void *attributes, int ret)
{
	const struct inode *inode = dentry->d_inode;
	__u32 flags = 0;

	/* The first member, with the flags of FS_IOC_SETFLAGS (include/linux/fileattr.h). */
	bpf_probe_read_kernel(&flags, sizeof(flags), attributes);
	if (!ret && inode && (flags & FS_CASEFOLD_FL) && !(inode->i_flags & S_CASEFOLD))
		return refuse_builtin(CORDON_OP_SETATTR, flags);
	return judge_dentry(dentry, CORDON_OP_SETATTR, ret);
}

#endif
