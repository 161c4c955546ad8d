/* SPDX-License-Identifier: Apache-2.0 */
/* The table of LSM hooks and their arguments, which programs are checked against before loading. */
#include "kernel/hooks.h"

#include <bpf/btf.h>
#include <string.h>

#define PREFIX	       "bpf_lsm_"
#define SIGNATURE_SIZE 256
#define MAX_POINTERS   4

/* In the order of names; a hook with several signatures has several rows. */
static const struct {
	const char *name;
	const char *arguments; /* NULL: no program */
	const char *why;       /* why none is needed */
} hooks[] = {
	{"audit_rule_free", NULL, "manages labels of other security modules"},
	{"audit_rule_init", NULL, "manages labels of other security modules"},
	{"audit_rule_known", NULL, "manages labels of other security modules"},
	{"audit_rule_match", NULL, "manages labels of other security modules"},
	{"backing_file_alloc", NULL, "manages labels of other security modules"},
	{"backing_file_free", NULL, "manages labels of other security modules"},
	{"bdev_alloc_security", NULL, "manages labels of other security modules"},
	{"bdev_free_security", NULL, "manages labels of other security modules"},
	{"bdev_setintegrity", NULL, "manages labels of other security modules"},
	{"binder_set_context_mgr", NULL, "cordon_file_open checks opening the device"},
	{"binder_transaction", NULL, "cordon_file_open checks opening the device"},
	{"binder_transfer_binder", NULL, "cordon_file_open checks opening the device"},
	{"binder_transfer_file", NULL, "cordon_file_open checks opening the device"},
	{"bpf", "u32, union bpf_attr *, u32", NULL},
	{"bpf", "u32, union bpf_attr *, u32, u8", NULL},
	{"bpf_map", "struct bpf_map *, u32", NULL},
	{"bpf_map_alloc_security", NULL, "manages labels of other security modules"},
	{"bpf_map_create", NULL, "cordon_bpf denies the call earlier"},
	{"bpf_map_free", NULL, "manages labels of other security modules"},
	{"bpf_map_free_security", NULL, "manages labels of other security modules"},
	{"bpf_prog", "struct bpf_prog *", NULL},
	{"bpf_prog_alloc_security", NULL, "manages labels of other security modules"},
	{"bpf_prog_free", NULL, "manages labels of other security modules"},
	{"bpf_prog_free_security", NULL, "manages labels of other security modules"},
	{"bpf_prog_load", NULL, "cordon_bpf denies the call earlier"},
	{"bpf_token_capable", NULL, "cordon_bpf denies the call earlier"},
	{"bpf_token_cmd", NULL, "cordon_bpf denies the call earlier"},
	{"bpf_token_create", NULL, "cordon_bpf denies the call earlier"},
	{"bpf_token_free", NULL, "cordon_bpf denies the call earlier"},
	{"bprm_check_security", "struct linux_binprm *", NULL},
	{"bprm_committed_creds", "struct linux_binprm *", NULL},
	{"bprm_committing_creds", NULL, "decides nothing: notifies of a completed operation"},
	{"bprm_creds_for_exec", "struct linux_binprm *", NULL},
	{"bprm_creds_from_file", "struct linux_binprm *, struct file *", NULL},
	{"capable", "struct cred *, struct user_namespace *, u32, u32", NULL},
	{"capget", NULL, "affects only the calling process, or returns a number"},
	{"capset", NULL, "cordon_capable checks the capability that it requires"},
	{"cred_alloc_blank", NULL, "cordon_task_alloc labels the new task"},
	{"cred_free", "struct cred *", NULL},
	{"cred_getlsmprop", NULL, "manages labels of other security modules"},
	{"cred_getsecid", NULL, "manages labels of other security modules"},
	{"cred_prepare", "struct cred *, struct cred *, u32", NULL},
	{"cred_transfer", NULL,
	 "cordon_key_permission denies the use of the session keyring that it transfers"},
	{"current_getlsmprop_subj", NULL, "manages labels of other security modules"},
	{"current_getsecid_subj", NULL, "manages labels of other security modules"},
	{"d_instantiate", "struct dentry *, struct inode *", NULL},
	{"dentry_create_files_as", NULL, "manages labels of other security modules"},
	{"dentry_init_security", NULL, "manages labels of other security modules"},
	{"file_alloc_security", NULL, "manages labels of other security modules"},
	{"file_fcntl", "struct file *, u32, u64", NULL},
	{"file_free_security", NULL, "manages labels of other security modules"},
	{"file_ioctl", "struct file *, u32, u64", NULL},
	{"file_ioctl_compat", "struct file *, u32, u64", NULL},
	{"file_lock", "struct file *, u32", NULL},
	{"file_mprotect", "struct vm_area_struct *, u64, u64", NULL},
	{"file_open", "struct file *", NULL},
	{"file_permission", "struct file *, u32", NULL},
	{"file_post_open", NULL, "cordon_file_open has checked it"},
	{"file_receive", "struct file *", NULL},
	{"file_release", NULL, "decides nothing: notifies of a completed operation"},
	{"file_send_sigiotask", NULL,
	 "cordon_file_fcntl and cordon_file_ioctl check the recipient of a file's signals"},
	{"file_set_fowner", NULL,
	 "cordon_file_fcntl and cordon_file_ioctl check the recipient of a file's signals"},
	{"file_truncate", "struct file *", NULL},
	{"find_cgroup_shim", NULL, "no hook: a helper function of the kernel"},
	{"fs_context_dup", NULL, "the hooks for mounts check the mount that it prepares"},
	{"fs_context_parse_param", "struct fs_context *, struct fs_parameter *", NULL},
	{"fs_context_submount", NULL, "the hooks for mounts check the mount that it prepares"},
	{"func_proto", NULL, "no hook: a helper function of the kernel"},
	{"get_retval_range", NULL, "no hook: a helper function of the kernel"},
	{"getprocattr", NULL, "manages labels of other security modules"},
	{"getselfattr", NULL, "manages labels of other security modules"},
	{"has_d_inode_locked", NULL, "no hook: a helper function of the kernel"},
	{"hook_returns_errno", NULL, "no hook: a helper function of the kernel"},
	{"inet_conn_established", NULL, "the programs at the cgroup check packets"},
	{"inet_conn_request", NULL, "the programs at the cgroup check packets"},
	{"inet_csk_clone", NULL, "the programs at the cgroup check packets"},
	{"init", NULL, "decides nothing: notifies of a completed operation"},
	{"initramfs_populated", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_alloc_security", NULL, "manages labels of other security modules"},
	{"inode_copy_up", NULL, "internal to a stacked file system"},
	{"inode_copy_up_xattr", NULL, "internal to a stacked file system"},
	{"inode_create", "struct inode *, struct dentry *, u16", NULL},
	{"inode_file_getattr", "struct dentry *, struct file_kattr *", NULL},
	{"inode_file_setattr", "struct dentry *, struct file_kattr *", NULL},
	{"inode_follow_link", NULL, "later hooks check the operation on the object that is found"},
	{"inode_free_security", "struct inode *", NULL},
	{"inode_free_security_rcu", NULL, "manages labels of other security modules"},
	{"inode_get_acl", "struct mnt_idmap *, struct dentry *, u8 *", NULL},
	{"inode_getattr", "struct path *", NULL},
	{"inode_getlsmprop", NULL, "manages labels of other security modules"},
	{"inode_getsecctx", NULL, "manages labels of other security modules"},
	{"inode_getsecid", NULL, "manages labels of other security modules"},
	{"inode_getsecurity", NULL, "manages labels of other security modules"},
	{"inode_getxattr", "struct dentry *, u8 *", NULL},
	{"inode_init_security", NULL, "manages labels of other security modules"},
	{"inode_init_security_anon", "struct inode *, struct qstr *, struct inode *", NULL},
	{"inode_invalidate_secctx", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_killpriv", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_link", NULL, "the path hook of that name checks it"},
	{"inode_listsecurity", NULL, "manages labels of other security modules"},
	{"inode_listxattr", "struct dentry *", NULL},
	{"inode_mkdir", NULL, "the path hook of that name checks it"},
	{"inode_mknod", NULL, "the path hook of that name checks it"},
	{"inode_need_killpriv", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_notifysecctx", NULL, "manages labels of other security modules"},
	{"inode_permission", NULL, "later hooks check the operation on the object that is found"},
	{"inode_post_create_tmpfile", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_post_remove_acl", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_post_removexattr", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_post_set_acl", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_post_setattr", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_post_setxattr", NULL, "decides nothing: notifies of a completed operation"},
	{"inode_readlink", "struct dentry *", NULL},
	{"inode_remove_acl", "struct mnt_idmap *, struct dentry *, u8 *", NULL},
	{"inode_removexattr", "struct user_namespace *, struct dentry *, u8 *", NULL},
	{"inode_removexattr", "struct mnt_idmap *, struct dentry *, u8 *", NULL},
	{"inode_rename", "struct inode *, struct dentry *, struct inode *, struct dentry *", NULL},
	{"inode_rmdir", NULL, "the path hook of that name checks it"},
	{"inode_set_acl", "struct mnt_idmap *, struct dentry *, u8 *, struct posix_acl *", NULL},
	{"inode_setattr", "struct dentry *, struct iattr *", NULL},
	{"inode_setattr", "struct mnt_idmap *, struct dentry *, struct iattr *", NULL},
	{"inode_setintegrity", NULL, "manages labels of other security modules"},
	{"inode_setsecctx", NULL, "manages labels of other security modules"},
	{"inode_setsecurity", NULL, "manages labels of other security modules"},
	{"inode_setxattr", "struct user_namespace *, struct dentry *, u8 *, void *, u64, u32",
	 NULL},
	{"inode_setxattr", "struct mnt_idmap *, struct dentry *, u8 *, void *, u64, u32", NULL},
	{"inode_symlink", NULL, "the path hook of that name checks it"},
	{"inode_unlink", "struct inode *, struct dentry *", NULL},
	{"inode_xattr_skipcap", NULL, "manages labels of other security modules"},
	{"ipc_getlsmprop", NULL, "manages labels of other security modules"},
	{"ipc_getsecid", NULL, "manages labels of other security modules"},
	{"ipc_permission", "struct kern_ipc_perm *, u16", NULL},
	{"is_sleepable_hook", NULL, "no hook: a helper function of the kernel"},
	{"is_trusted", NULL, "no hook: a helper function of the kernel"},
	{"ismaclabel", NULL, "manages labels of other security modules"},
	{"kernel_act_as", NULL, "decides nothing: notifies of a completed operation"},
	{"kernel_create_files_as", NULL, "decides nothing: notifies of a completed operation"},
	{"kernel_load_data", "u32, u8", NULL},
	{"kernel_module_request", "u8 *", NULL},
	{"kernel_post_load_data", NULL,
	 "cordon_kernel_read_file and cordon_kernel_load_data deny it earlier"},
	{"kernel_post_read_file", NULL,
	 "cordon_kernel_read_file and cordon_kernel_load_data deny it earlier"},
	{"kernel_read_file", "struct file *, u32, u8", NULL},
	{"kernfs_init_security", NULL, "manages labels of other security modules"},
	{"key_alloc", "struct key *, struct cred *, u64", NULL},
	{"key_free", NULL, "decides nothing: notifies of a completed operation"},
	{"key_getsecurity", NULL, "manages labels of other security modules"},
	{"key_permission", "struct __key_reference_with_attributes *, struct cred *, u32", NULL},
	{"key_post_create_or_update", NULL, "decides nothing: notifies of a completed operation"},
	{"locked_down", NULL, "cordon_capable checks the capability that it requires"},
	{"lsmprop_to_secctx", NULL, "manages labels of other security modules"},
	{"mmap_addr", "u64", NULL},
	{"mmap_backing_file", NULL, "cordon_mmap_file has checked the file that the user opened"},
	{"mmap_file", "struct file *, u64, u64, u64", NULL},
	{"move_mount", "struct path *, struct path *", NULL},
	{"mptcp_add_subflow", NULL, "the programs at the cgroup check packets"},
	{"msg_msg_alloc_security", NULL, "manages labels of other security modules"},
	{"msg_msg_free_security", NULL, "manages labels of other security modules"},
	{"msg_queue_alloc_security", "struct kern_ipc_perm *", NULL},
	{"msg_queue_associate", NULL, "cordon_ipc_permission checks it"},
	{"msg_queue_free_security", "struct kern_ipc_perm *", NULL},
	{"msg_queue_msgctl", "struct kern_ipc_perm *, u32", NULL},
	{"msg_queue_msgrcv", NULL, "cordon_ipc_permission checks it"},
	{"msg_queue_msgsnd", NULL, "cordon_ipc_permission checks it"},
	{"netlink_send", "struct sock *, struct sk_buff *", NULL},
	{"path_chmod", "struct path *, u16", NULL},
	{"path_chown", "struct path *, struct, struct", NULL},
	{"path_chroot", "struct path *", NULL},
	{"path_link", "struct dentry *, struct path *, struct dentry *", NULL},
	{"path_mkdir", "struct path *, struct dentry *, u16", NULL},
	{"path_mknod", "struct path *, struct dentry *, u16, u32", NULL},
	{"path_notify", "struct path *, u64, u32", NULL},
	{"path_post_mknod", NULL, "decides nothing: notifies of a completed operation"},
	{"path_rename", "struct path *, struct dentry *, struct path *, struct dentry *, u32",
	 NULL},
	{"path_rmdir", "struct path *, struct dentry *", NULL},
	{"path_symlink", "struct path *, struct dentry *, u8 *", NULL},
	{"path_truncate", "struct path *", NULL},
	{"path_unlink", "struct path *, struct dentry *", NULL},
	{"perf_event_alloc", NULL, "cordon_perf_event_open denies the call earlier"},
	{"perf_event_free", NULL, "cordon_perf_event_open denies the call earlier"},
	{"perf_event_open", "struct perf_event_attr *, u32", NULL},
	{"perf_event_open", "u32", NULL},
	{"perf_event_read", NULL, "cordon_perf_event_open denies the call earlier"},
	{"perf_event_write", NULL, "cordon_perf_event_open denies the call earlier"},
	{"ptrace_access_check", "struct task_struct *, u32", NULL},
	{"ptrace_traceme", "struct task_struct *", NULL},
	{"quota_on", NULL, "cordon_quotactl denies it earlier"},
	{"quotactl", "u32, u32, u32, struct super_block *", NULL},
	{"release_secctx", NULL, "manages labels of other security modules"},
	{"req_classify_flow", NULL, "the programs at the cgroup check packets"},
	{"sb_alloc_security", "struct super_block *", NULL},
	{"sb_clone_mnt_opts", NULL, "the hooks for mounts check the mount that it prepares"},
	{"sb_delete", NULL, "decides nothing: notifies of a completed operation"},
	{"sb_eat_lsm_opts", NULL, "the hooks for mounts check the mount that it prepares"},
	{"sb_free_mnt_opts", NULL, "the hooks for mounts check the mount that it prepares"},
	{"sb_free_security", "struct super_block *", NULL},
	{"sb_kern_mount", "struct super_block *", NULL},
	{"sb_mnt_opts_compat", NULL, "the hooks for mounts check the mount that it prepares"},
	{"sb_mount", "u8 *, struct path *, u8 *, u64, void *", NULL},
	{"sb_pivotroot", "struct path *, struct path *", NULL},
	{"sb_remount", "struct super_block *, void *", NULL},
	{"sb_set_mnt_opts", NULL, "the hooks for mounts check the mount that it prepares"},
	{"sb_show_options", NULL, "the hooks for mounts check the mount that it prepares"},
	{"sb_statfs", NULL, "affects only the calling process, or returns a number"},
	{"sb_umount", "struct vfsmount *, u32", NULL},
	{"sctp_assoc_established", NULL, "the programs at the cgroup check packets"},
	{"sctp_assoc_request", NULL, "the programs at the cgroup check packets"},
	{"sctp_bind_connect", "struct sock *, u32, struct sockaddr *, u32", NULL},
	{"sctp_sk_clone", NULL, "the programs at the cgroup check packets"},
	{"secctx_to_secid", NULL, "manages labels of other security modules"},
	{"secid_to_secctx", NULL, "manages labels of other security modules"},
	{"secmark_refcount_dec", NULL, "the programs at the cgroup check packets"},
	{"secmark_refcount_inc", NULL, "the programs at the cgroup check packets"},
	{"secmark_relabel_packet", NULL, "the programs at the cgroup check packets"},
	{"sem_alloc_security", "struct kern_ipc_perm *", NULL},
	{"sem_associate", NULL, "cordon_ipc_permission checks it"},
	{"sem_free_security", "struct kern_ipc_perm *", NULL},
	{"sem_semctl", "struct kern_ipc_perm *, u32", NULL},
	{"sem_semop", NULL, "cordon_ipc_permission checks it"},
	{"setprocattr", NULL, "manages labels of other security modules"},
	{"setselfattr", NULL, "manages labels of other security modules"},
	{"settime", NULL, "cordon_capable checks the capability that it requires"},
	{"shm_alloc_security", "struct kern_ipc_perm *", NULL},
	{"shm_associate", NULL, "cordon_ipc_permission checks it"},
	{"shm_free_security", "struct kern_ipc_perm *", NULL},
	{"shm_shmat", NULL, "cordon_ipc_permission checks it"},
	{"shm_shmctl", "struct kern_ipc_perm *, u32", NULL},
	{"sk_alloc_security", NULL, "manages labels of other security modules"},
	{"sk_clone_security", NULL, "manages labels of other security modules"},
	{"sk_free_security", NULL, "manages labels of other security modules"},
	{"sk_getsecid", NULL, "manages labels of other security modules"},
	{"sock_graft", NULL, "manages labels of other security modules"},
	{"socket_accept", "struct socket *, struct socket *", NULL},
	{"socket_bind", "struct socket *, struct sockaddr *, u32", NULL},
	{"socket_connect", "struct socket *, struct sockaddr *, u32", NULL},
	{"socket_create", "u32, u32, u32, u32", NULL},
	{"socket_getpeername", NULL, "concerns a socket that the task has"},
	{"socket_getpeersec_dgram", NULL, "manages labels of other security modules"},
	{"socket_getpeersec_stream", NULL, "manages labels of other security modules"},
	{"socket_getsockname", NULL, "concerns a socket that the task has"},
	{"socket_getsockopt", "struct socket *, u32, u32", NULL},
	{"socket_listen", "struct socket *, u32", NULL},
	{"socket_post_create", "struct socket *, u32, u32, u32, u32", NULL},
	{"socket_recvmsg", "struct socket *, struct msghdr *, u32, u32", NULL},
	{"socket_sendmsg", "struct socket *, struct msghdr *, u32", NULL},
	{"socket_setsockopt", "struct socket *, u32, u32", NULL},
	{"socket_shutdown", NULL, "concerns a socket that the task has"},
	{"socket_sock_rcv_skb", NULL, "the programs at the cgroup check packets"},
	{"socket_socketpair", NULL, "concerns a socket that the task has"},
	{"syslog", "u32", NULL},
	{"task_alloc", "struct task_struct *, u64", NULL},
	{"task_fix_setgid", NULL, "cordon_capable checks the capability that it requires"},
	{"task_fix_setgroups", NULL, "cordon_capable checks the capability that it requires"},
	{"task_fix_setuid", NULL, "cordon_capable checks the capability that it requires"},
	{"task_free", "struct task_struct *", NULL},
	{"task_getioprio", NULL, "affects only the calling process, or returns a number"},
	{"task_getlsmprop_obj", NULL, "manages labels of other security modules"},
	{"task_getpgid", NULL, "affects only the calling process, or returns a number"},
	{"task_getscheduler", NULL, "affects only the calling process, or returns a number"},
	{"task_getsecid_obj", NULL, "manages labels of other security modules"},
	{"task_getsid", NULL, "affects only the calling process, or returns a number"},
	{"task_kill", "struct task_struct *, struct kernel_siginfo *, u32, struct cred *", NULL},
	{"task_movememory", "struct task_struct *", NULL},
	{"task_prctl", NULL, "affects only the calling process, or returns a number"},
	{"task_prlimit", "struct cred *, struct cred *, u32", NULL},
	{"task_setioprio", "struct task_struct *, u32", NULL},
	{"task_setnice", "struct task_struct *, u32", NULL},
	{"task_setpgid", "struct task_struct *, u32", NULL},
	{"task_setrlimit", NULL, "cordon_capable checks the capability that it requires"},
	{"task_setscheduler", "struct task_struct *", NULL},
	{"task_to_inode", NULL, "decides nothing: notifies of a completed operation"},
	{"tun_dev_alloc_security", NULL, "cordon_capable checks the capability that it requires"},
	{"tun_dev_attach", NULL, "cordon_capable checks the capability that it requires"},
	{"tun_dev_attach_queue", NULL, "cordon_capable checks the capability that it requires"},
	{"tun_dev_create", NULL, "cordon_capable checks the capability that it requires"},
	{"tun_dev_free_security", NULL, "cordon_capable checks the capability that it requires"},
	{"tun_dev_open", NULL, "cordon_capable checks the capability that it requires"},
	{"unix_find", NULL,
	 "cordon_unix_stream_connect and cordon_unix_may_send check the socket that is found"},
	{"unix_may_send", "struct socket *, struct socket *", NULL},
	{"unix_stream_connect", "struct sock *, struct sock *, struct sock *", NULL},
	{"uring_allowed", NULL, "the filter denies creating rings, unless the policy allows them"},
	{"uring_cmd", NULL, "the filter denies creating rings, unless the policy allows them"},
	{"uring_override_creds", "struct cred *", NULL},
	{"uring_sqpoll", "void", NULL},
	{"userns_create", "struct cred *", NULL},
	{"verify_prog", NULL, "no hook: a helper function of the kernel"},
	{"vm_enough_memory", NULL, "cordon_capable checks the capability that it requires"},
	{"xfrm_decode_session", NULL, "cordon_capable checks the capability that it requires"},
	{"xfrm_policy_alloc_security", NULL,
	 "cordon_capable checks the capability that it requires"},
	{"xfrm_policy_clone_security", NULL,
	 "cordon_capable checks the capability that it requires"},
	{"xfrm_policy_delete_security", NULL,
	 "cordon_capable checks the capability that it requires"},
	{"xfrm_policy_free_security", NULL,
	 "cordon_capable checks the capability that it requires"},
	{"xfrm_policy_lookup", NULL, "cordon_capable checks the capability that it requires"},
	{"xfrm_state_alloc", NULL, "cordon_capable checks the capability that it requires"},
	{"xfrm_state_alloc_acquire", NULL, "cordon_capable checks the capability that it requires"},
	{"xfrm_state_delete_security", NULL,
	 "cordon_capable checks the capability that it requires"},
	{"xfrm_state_free_security", NULL, "cordon_capable checks the capability that it requires"},
	{"xfrm_state_pol_flow_match", NULL,
	 "cordon_capable checks the capability that it requires"},
};

static const struct btf_type *plain(const struct btf *btf, __u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (btf_is_mod(type) || btf_is_typedef(type) || btf_is_type_tag(type))
		type = btf__type_by_id(btf, type->type);
	return type;
}

/* Numbers by width, structs by name: the properties that affect reading them. */
static size_t write_type(const struct btf *btf, __u32 id, char *text, size_t size)
{
	const struct btf_type *type = plain(btf, id);
	char stars[MAX_POINTERS + 2] = "";
	size_t pointers = 0;
	int length;

	for (; btf_is_ptr(type) && pointers < MAX_POINTERS; type = plain(btf, type->type))
		stars[++pointers] = '*';
	if (pointers)
		stars[0] = ' ';
	if (btf_is_int(type) || btf_is_any_enum(type))
		length = snprintf(text, size, "u%u%s", type->size * 8, stars);
	else if (btf_is_void(type))
		length = snprintf(text, size, "void%s", stars);
	else if (btf_is_func_proto(type))
		length = snprintf(text, size, "function%s", stars);
	else
		length = snprintf(text, size, "%s%s%s%s",
				  btf_is_union(type) || (btf_is_fwd(type) && btf_kflag(type))
					  ? "union"
					  : "struct",
				  type->name_off ? " " : "",
				  type->name_off ? btf__name_by_offset(btf, type->name_off) : "",
				  stars);
	return length < 0 || (size_t)length >= size ? size - 1 : (size_t)length;
}

static void write_arguments(const struct btf *btf, const struct btf_type *function,
			    char text[SIGNATURE_SIZE])
{
	const struct btf_type *prototype = btf__type_by_id(btf, function->type);
	const struct btf_param *parameters = btf_params(prototype);
	size_t length = 0;

	snprintf(text, SIGNATURE_SIZE, "void");
	for (unsigned int i = 0; i < btf_vlen(prototype); i++) {
		if (i > 0)
			length += (size_t)snprintf(text + length, SIGNATURE_SIZE - length, ", ");
		if (length >= SIGNATURE_SIZE - 3)
			return;
		length +=
			write_type(btf, parameters[i].type, text + length, SIGNATURE_SIZE - length);
	}
}

static const char *name_of_hook(const struct btf *btf, const struct btf_type *type)
{
	const char *name = btf_is_func(type) ? btf__name_by_offset(btf, type->name_off) : NULL;

	if (!name || strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return NULL;
	return name + strlen(PREFIX);
}

int hooks_has_program(const char *hook)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		if (strcmp(hooks[i].name, hook) == 0)
			return hooks[i].arguments != NULL;
	return -ENOENT;
}

static bool takes(const char *hook, const char *arguments)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		if (strcmp(hooks[i].name, hook) == 0 &&
		    (!hooks[i].arguments || strcmp(hooks[i].arguments, arguments) == 0))
			return true;
	return false;
}

int hooks_check(const struct btf *kernel, struct failure *failure)
{
	__u32 count = btf__type_cnt(kernel);
	char arguments[SIGNATURE_SIZE];

	for (__u32 id = 1; id < count; id++) {
		const struct btf_type *type = btf__type_by_id(kernel, id);
		const char *name = name_of_hook(kernel, type);

		if (!name || hooks_has_program(name) <= 0)
			continue;
		write_arguments(kernel, type, arguments);
		if (!takes(name, arguments))
			return failure_set(
				failure, EOPNOTSUPP,
				"this kernel calls the hook %s with other arguments than "
				"any program of cordon takes: %s",
				name, arguments);
	}
	return 0;
}

int hooks_count_new(const struct btf *kernel, char ret_first[HOOKS_NAME_SIZE])
{
	__u32 types = btf__type_cnt(kernel);
	int count = 0;

	ret_first[0] = '\0';
	for (__u32 id = 1; id < types; id++) {
		const char *name = name_of_hook(kernel, btf__type_by_id(kernel, id));

		if (!name || hooks_has_program(name) >= 0)
			continue;
		if (count++ == 0)
			snprintf(ret_first, HOOKS_NAME_SIZE, "%s", name);
	}
	return count;
}
