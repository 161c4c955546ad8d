/* SPDX-License-Identifier: Apache-2.0 */
/* The table of system calls: the hooks that check each, or why none is needed. */
#include "kernel/calls.h"

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define OWN	   "affects only the calling process"
#define TELLS	   "returns numbers about the host or a process, which no right covers"
#define DESCRIPTOR "for a descriptor that was checked when it was opened or received"
#define ELSEWHERE  "only on other architectures or unsupported kernels"

static const struct calls_row rows[] = {
	/* Files by name. */
	{CALLS_SYSTEM, CALLS_PASS, "open openat openat2 creat",
	 "file_open path_mknod path_truncate", NULL},
	{CALLS_SYSTEM, CALLS_STRICT, "open_by_handle_at", "capable file_open", NULL},
	{CALLS_SYSTEM, CALLS_REFUSED, "name_to_handle_at", NULL,
	 "the object of a handle is checked when it is opened"},
	{CALLS_SYSTEM, CALLS_PASS, "truncate truncate64 ia32_truncate64", "path_truncate", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "ftruncate ftruncate64 ia32_ftruncate64",
	 "path_truncate file_truncate", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "mkdir mkdirat", "path_mkdir", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "mknod mknodat", "path_mknod", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "symlink symlinkat", "path_symlink", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "link linkat", "path_link", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "unlink unlinkat rmdir", "path_unlink path_rmdir", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "rename renameat renameat2", "path_rename", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "chmod fchmod fchmodat fchmodat2", "path_chmod", NULL},
	{CALLS_SYSTEM, CALLS_PASS,
	 "chown chown16 chown32 fchown fchown16 fchown32 fchownat lchown lchown16 lchown32",
	 "path_chown", NULL},
	{CALLS_SYSTEM, CALLS_PASS,
	 "utime utime32 utimes utimes_time32 futimesat futimesat_time32 utimensat utimensat_time32 "
	 "utimensat_time64",
	 "inode_setattr", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "setxattr lsetxattr fsetxattr setxattrat",
	 "inode_setxattr inode_set_acl", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "removexattr lremovexattr fremovexattr removexattrat",
	 "inode_removexattr inode_remove_acl", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "file_setattr", "inode_file_setattr", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "file_getattr", "inode_file_getattr", NULL},
	{CALLS_SYSTEM, CALLS_PASS,
	 "stat fstat lstat newstat newfstat newlstat newfstatat oldstat oldfstat oldlstat stat64 "
	 "fstat64 lstat64 fstatat64 ia32_stat64 ia32_fstat64 ia32_lstat64 ia32_fstatat64 statx",
	 "inode_getattr", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "readlink readlinkat", "inode_readlink", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "getxattr lgetxattr fgetxattr getxattrat",
	 "inode_getxattr inode_get_acl", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "listxattr llistxattr flistxattr listxattrat", "inode_listxattr",
	 NULL},
	{CALLS_SYSTEM, CALLS_PASS, "access faccessat faccessat2", NULL,
	 "permission bits decide whether the existence of a path can be seen"},
	{CALLS_SYSTEM, CALLS_PASS, "chdir fchdir getcwd umask", NULL,
	 "later calls check the operation on an object that is found from there"},
	{CALLS_SYSTEM, CALLS_PASS, "chroot fchroot", "path_chroot capable", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "inotify_add_watch", "path_notify", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "inotify_init inotify_init1 inotify_rm_watch", NULL,
	 "a new instance watches nothing; the kernel limits the instances of a user"},
	{CALLS_SYSTEM, CALLS_REFUSED, "fanotify_init fanotify_mark", "path_notify capable", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "statfs statfs64 fstatfs fstatfs64", NULL, TELLS},
	{CALLS_SYSTEM, CALLS_REFUSED, "ustat sysfs", NULL, TELLS},

	/* Files by descriptor. */
	{CALLS_SYSTEM, CALLS_PASS,
	 "read readv pread64 preadv preadv2 preadv64 preadv64v2 ia32_pread64 write writev pwrite64 "
	 "pwritev pwritev64 pwritev64v2 ia32_pwrite64 sendfile sendfile64 splice "
	 "copy_file_range ia32_fallocate getdents getdents64 readdir old_readdir io_submit",
	 "file_permission", "besides, " DESCRIPTOR},
	{CALLS_SYSTEM, CALLS_PARTLY, "pwritev2 fallocate", "file_permission",
	 "a file for appending only can still only be appended to"},
	{CALLS_SYSTEM, CALLS_PASS,
	 "tee vmsplice lseek llseek _llseek fsync fdatasync sync_file_range sync_file_range2 "
	 "ia32_sync_file_range readahead ia32_readahead fadvise64 fadvise64_64 ia32_fadvise64 "
	 "ia32_fadvise64_64 syncfs cachestat",
	 NULL, DESCRIPTOR},
	{CALLS_SYSTEM, CALLS_PASS, "sync bdflush", NULL, "writes data that was written already"},
	{CALLS_SYSTEM, CALLS_PASS, "fcntl fcntl64", "file_fcntl file_lock path_notify", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "flock", "file_lock", NULL},
	{CALLS_SYSTEM, CALLS_PARTLY, "ioctl", "file_ioctl file_ioctl_compat", NULL},
	{CALLS_SYSTEM, CALLS_PASS,
	 "dup dup2 dup3 close close_range pipe pipe2 poll ppoll ppoll_time32 ppoll_time64 select "
	 "old_select _newselect pselect6 pselect6_time32 pselect6_time64 epoll_create epoll_create1 "
	 "epoll_ctl epoll_ctl_old epoll_wait epoll_wait_old epoll_pwait epoll_pwait2 eventfd eventfd2 "
	 "signalfd signalfd4 timerfd_create timerfd_settime timerfd_settime32 timerfd_settime64 "
	 "timerfd_gettime timerfd_gettime32 timerfd_gettime64 memfd_create memfd_secret "
	 "io_destroy io_cancel io_getevents io_getevents_time32 io_pgetevents io_pgetevents_time32 "
	 "io_pgetevents_time64",
	 NULL, "creates or waits for descriptors of the calling process"},
	{CALLS_SYSTEM, CALLS_PASS, "mq_open", "inode_create file_open", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "mq_unlink", "inode_unlink", NULL},
	{CALLS_SYSTEM, CALLS_PASS,
	 "mq_timedsend mq_timedsend_time32 mq_timedsend_time64 mq_timedreceive "
	 "mq_timedreceive_time32 mq_timedreceive_time64 mq_notify mq_getsetattr",
	 NULL, DESCRIPTOR},

	/* Programs and memory. */
	{CALLS_SYSTEM, CALLS_PASS, "execve execveat",
	 "bprm_creds_for_exec bprm_check_security bprm_creds_from_file", NULL},
	{CALLS_SYSTEM, CALLS_REFUSED, "uselib", "mmap_file", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "mmap mmap2 mmap_pgoff ia32_mmap", "mmap_file", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "remap_file_pages", "mmap_file",
	 "kernels without the hook call: the same file with the same protection"},
	{CALLS_SYSTEM, CALLS_PASS, "mprotect pkey_mprotect", "file_mprotect", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "brk", "mmap_addr", NULL},
	{CALLS_SYSTEM, CALLS_PARTLY, "personality", NULL,
	 "mmap_file and mmap_addr check memory that it makes executable"},
	{CALLS_SYSTEM, CALLS_PASS,
	 "mremap munmap msync mincore mlock mlock2 mlockall munlock munlockall mseal mbind "
	 "get_mempolicy set_mempolicy set_mempolicy_home_node pkey_alloc pkey_free "
	 "map_shadow_stack membarrier",
	 NULL, OWN ", and makes no memory executable"},
	{CALLS_SYSTEM, CALLS_PASS, "madvise", "capable", "otherwise " OWN},
	{CALLS_SYSTEM, CALLS_REFUSED, "userfaultfd", "inode_init_security_anon", NULL},
	{CALLS_SYSTEM, CALLS_REFUSED, "modify_ldt", NULL, OWN},
	{CALLS_SYSTEM, CALLS_PASS,
	 "arch_prctl set_thread_area get_thread_area vm86 vm86old rseq rseq_slice_yield uprobe "
	 "uretprobe futex futex_time32 futex_time64 futex_waitv futex_wait futex_wake futex_requeue "
	 "set_robust_list set_tid_address getrandom exit exit_group restart_syscall",
	 NULL, OWN},
	{CALLS_SYSTEM, CALLS_PASS, "prctl", "capable ptrace_access_check",
	 "each option is listed below"},

	/* Processes. */
	{CALLS_SYSTEM, CALLS_PARTLY, "clone ia32_clone", "task_alloc userns_create capable", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "clone3 fork vfork", "task_alloc userns_create capable", NULL},
	{CALLS_SYSTEM, CALLS_PARTLY, "unshare", "userns_create capable", NULL},
	{CALLS_SYSTEM, CALLS_UNLESS_NAMESPACES, "setns", "capable", NULL},
	{CALLS_SYSTEM, CALLS_PASS,
	 "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal", "task_kill",
	 NULL},
	{CALLS_SYSTEM, CALLS_STRICT_TRACING, "ptrace", "ptrace_access_check ptrace_traceme", NULL},
	{CALLS_SYSTEM, CALLS_STRICT_TRACING, "process_vm_readv process_vm_writev kcmp",
	 "ptrace_access_check", NULL},
	{CALLS_SYSTEM, CALLS_STRICT_TRACING, "process_madvise", "ptrace_access_check capable",
	 NULL},
	{CALLS_SYSTEM, CALLS_PASS, "pidfd_getfd", "ptrace_access_check file_receive", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "get_robust_list", "ptrace_access_check", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "pidfd_open", NULL,
	 "refers to a process, as its pid does: later calls check the operation on it"},
	{CALLS_SYSTEM, CALLS_PASS, "process_mrelease", NULL,
	 "releases memory only of processes that are being killed"},
	{CALLS_SYSTEM, CALLS_STRICT, "move_pages migrate_pages",
	 "ptrace_access_check task_movememory", NULL},
	{CALLS_SYSTEM, CALLS_PASS,
	 "sched_setscheduler sched_setparam sched_setattr sched_setaffinity", "task_setscheduler",
	 NULL},
	{CALLS_SYSTEM, CALLS_PASS, "setpriority nice", "task_setnice", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "ioprio_set", "task_setioprio", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "prlimit64", "task_prlimit capable", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "setrlimit", "capable", "otherwise " OWN},
	{CALLS_SYSTEM, CALLS_PASS, "setpgid", "task_setpgid", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "setsid wait4 waitpid waitid", NULL,
	 "affects only the calling process and its children"},
	{CALLS_SYSTEM, CALLS_PASS,
	 "getpriority ioprio_get getpgid getpgrp getsid sched_getscheduler sched_getparam "
	 "sched_getattr sched_getaffinity sched_get_priority_max sched_get_priority_min "
	 "sched_rr_get_interval sched_rr_get_interval_time32 sched_rr_get_interval_time64 sched_yield "
	 "capget getrlimit ugetrlimit old_getrlimit getrusage times sysinfo uname newuname olduname "
	 "oldolduname gethostname getcpu getpid getppid gettid getuid getuid16 getuid32 geteuid "
	 "geteuid16 geteuid32 getgid getgid16 getgid32 getegid getegid16 getegid32 getresuid "
	 "getresuid16 getresuid32 getresgid getresgid16 getresgid32 getgroups getgroups16 getgroups32",
	 NULL, TELLS},
	{CALLS_SYSTEM, CALLS_PASS,
	 "setuid setuid16 setuid32 setgid setgid16 setgid32 setreuid setreuid16 setreuid32 setregid "
	 "setregid16 setregid32 setresuid setresuid16 setresuid32 setresgid setresgid16 setresgid32 "
	 "setfsuid setfsuid16 setfsuid32 setfsgid setfsgid16 setfsgid32 setgroups setgroups16 "
	 "setgroups32 capset",
	 "capable", "otherwise " OWN},
	{CALLS_SYSTEM, CALLS_PASS,
	 "rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn x32_rt_sigreturn rt_sigsuspend rt_sigtimedwait "
	 "rt_sigtimedwait_time32 rt_sigtimedwait_time64 sigaction sigaltstack signal sigpending "
	 "sigprocmask sigreturn sigsuspend sgetmask ssetmask pause alarm getitimer setitimer "
	 "timer_create timer_delete timer_getoverrun timer_gettime timer_gettime32 timer_gettime64 "
	 "timer_settime timer_settime32 timer_settime64 nanosleep nanosleep_time32 clock_nanosleep "
	 "clock_nanosleep_time32 clock_nanosleep_time64 clock_gettime clock_gettime32 "
	 "clock_gettime64 clock_getres clock_getres_time32 clock_getres_time64 gettimeofday time "
	 "time32",
	 NULL, OWN},
	{CALLS_SYSTEM, CALLS_PASS,
	 "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self "
	 "lsm_set_self_attr lsm_get_self_attr lsm_list_modules",
	 NULL, "restricts the calling process further, or returns its restrictions"},

	/* Sockets, System V objects, keys. */
	{CALLS_SYSTEM, CALLS_PARTLY, "socket socketpair", "socket_create socket_post_create", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "socketcall",
	 "socket_create socket_bind socket_connect socket_listen socket_accept socket_sendmsg "
	 "socket_recvmsg socket_setsockopt socket_getsockopt",
	 NULL},
	{CALLS_SYSTEM, CALLS_PASS, "bind", "socket_bind path_mknod", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "connect", "socket_connect unix_stream_connect unix_may_send",
	 NULL},
	{CALLS_SYSTEM, CALLS_PASS, "listen", "socket_listen", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "accept accept4", "socket_accept", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "send sendto sendmsg sendmmsg", "socket_sendmsg unix_may_send",
	 NULL},
	{CALLS_SYSTEM, CALLS_PASS, "recv recvfrom recvmsg recvmmsg recvmmsg_time32 recvmmsg_time64",
	 "socket_recvmsg file_receive", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "setsockopt", "socket_setsockopt sctp_bind_connect", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "getsockopt", "socket_getsockopt", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "getsockname getpeername shutdown", NULL, DESCRIPTOR},
	{CALLS_SYSTEM, CALLS_PASS, "shmget", "shm_alloc_security ipc_permission", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "semget", "sem_alloc_security ipc_permission", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "msgget", "msg_queue_alloc_security ipc_permission", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "shmctl old_shmctl", "shm_shmctl ipc_permission", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "semctl old_semctl", "sem_semctl ipc_permission", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "msgctl old_msgctl", "msg_queue_msgctl ipc_permission", NULL},
	{CALLS_SYSTEM, CALLS_PASS,
	 "shmat semop semtimedop semtimedop_time32 semtimedop_time64 msgsnd msgrcv ipc",
	 "ipc_permission", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "shmdt", NULL, OWN},
	{CALLS_SYSTEM, CALLS_STRICT, "add_key request_key keyctl", "key_alloc key_permission",
	 NULL},

	/* io_uring; its operations follow below. */
	{CALLS_SYSTEM, CALLS_UNLESS_IO_URING, "io_setup", NULL,
	 "counts against a limit for the whole host"},
	{CALLS_SYSTEM, CALLS_UNLESS_IO_URING, "io_uring_setup", "uring_sqpoll", NULL},
	{CALLS_SYSTEM, CALLS_UNLESS_IO_URING, "io_uring_enter io_uring_register",
	 "uring_override_creds", "each operation is listed below"},

	/* The host. */
	{CALLS_SYSTEM, CALLS_STRICT_NAMESPACES, "mount", "sb_mount sb_remount", NULL},
	{CALLS_SYSTEM, CALLS_STRICT_NAMESPACES, "umount2 umount", "sb_umount", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "oldumount", "sb_umount", NULL},
	{CALLS_SYSTEM, CALLS_STRICT_NAMESPACES, "pivot_root", "sb_pivotroot", NULL},
	{CALLS_SYSTEM, CALLS_STRICT_NAMESPACES, "move_mount", "move_mount", NULL},
	{CALLS_SYSTEM, CALLS_STRICT_NAMESPACES, "fsmount", "capable",
	 "its mount has no path before `move_mount`"},
	{CALLS_SYSTEM, CALLS_UNLESS_NAMESPACES, "fsopen fspick fsconfig",
	 "capable sb_remount fs_context_parse_param sb_kern_mount", NULL},
	{CALLS_SYSTEM, CALLS_UNLESS_NAMESPACES, "open_tree", "capable",
	 "its mount has no path before `move_mount`"},
	{CALLS_SYSTEM, CALLS_UNLESS_NAMESPACES, "mount_setattr open_tree_attr", "capable", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "statmount listmount", "capable",
	 "return for the caller's mount namespace what `/proc/self/mountinfo` contains, and fail for others"},
	{CALLS_SYSTEM, CALLS_REFUSED, "listns", "capable", NULL},
	{CALLS_SYSTEM, CALLS_REFUSED, "quotactl quotactl_fd", "quotactl", NULL},
	{CALLS_SYSTEM, CALLS_STRICT, "bpf", "bpf bpf_map bpf_prog", NULL},
	{CALLS_SYSTEM, CALLS_STRICT, "perf_event_open", "perf_event_open", NULL},
	{CALLS_SYSTEM, CALLS_STRICT, "kexec_load init_module", "capable kernel_load_data", NULL},
	{CALLS_SYSTEM, CALLS_STRICT, "kexec_file_load finit_module", "capable kernel_read_file",
	 NULL},
	{CALLS_SYSTEM, CALLS_STRICT,
	 "delete_module acct swapon swapoff reboot iopl ioperm vhangup settimeofday clock_settime "
	 "adjtimex clock_adjtime",
	 "capable", NULL},
	{CALLS_SYSTEM, CALLS_PASS,
	 "adjtimex_time32 clock_adjtime32 clock_adjtime64 clock_settime32 clock_settime64 stime "
	 "stime32 sethostname setdomainname",
	 "capable", NULL},
	{CALLS_SYSTEM, CALLS_PASS, "syslog", "syslog", NULL},
	{CALLS_SYSTEM, CALLS_REFUSED, "lookup_dcookie", "capable", NULL},
	{CALLS_SYSTEM, CALLS_REFUSED,
	 "_sysctl nfsservctl create_module get_kernel_syms query_module", NULL, ELSEWHERE},
	{CALLS_SYSTEM, CALLS_PASS,
	 "afs_syscall break ftime getpmsg gtty idle lock mpx ni_syscall pciconfig_iobase pciconfig_read "
	 "pciconfig_write prof profil putpmsg rtas s390_ipc s390_pci_mmio_read s390_pci_mmio_write "
	 "security spu_create spu_run stty subpage_prot tuxcall ulimit vserver",
	 NULL, ELSEWHERE},

	/* io_uring operations, with the hooks of the equivalent system calls. */
	{CALLS_RING, CALLS_PASS, "IORING_OP_OPENAT IORING_OP_OPENAT2",
	 "file_open path_mknod path_truncate", NULL},
	{CALLS_RING, CALLS_PASS,
	 "IORING_OP_READV IORING_OP_WRITEV IORING_OP_READ_FIXED IORING_OP_WRITE_FIXED IORING_OP_READ "
	 "IORING_OP_WRITE IORING_OP_READ_MULTISHOT IORING_OP_READV_FIXED IORING_OP_WRITEV_FIXED "
	 "IORING_OP_FALLOCATE IORING_OP_SPLICE",
	 "file_permission", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_FTRUNCATE", "path_truncate file_truncate", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_STATX", "inode_getattr", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_RENAMEAT", "path_rename", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_UNLINKAT", "path_unlink path_rmdir", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_MKDIRAT", "path_mkdir", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_SYMLINKAT", "path_symlink", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_LINKAT", "path_link", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_SETXATTR IORING_OP_FSETXATTR",
	 "inode_setxattr inode_set_acl", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_GETXATTR IORING_OP_FGETXATTR",
	 "inode_getxattr inode_get_acl", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_SOCKET", "socket_create socket_post_create", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_CONNECT",
	 "socket_connect unix_stream_connect unix_may_send", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_BIND", "socket_bind path_mknod", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_LISTEN", "socket_listen", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_ACCEPT", "socket_accept", NULL},
	{CALLS_RING, CALLS_PASS,
	 "IORING_OP_SENDMSG IORING_OP_SEND IORING_OP_SEND_ZC IORING_OP_SENDMSG_ZC",
	 "socket_sendmsg unix_may_send", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_RECVMSG IORING_OP_RECV", "socket_recvmsg file_receive",
	 NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_RECV_ZC", "capable",
	 "receives from a queue that IORING_REGISTER_ZCRX_IFQ created, which requires `net_admin`"},
	{CALLS_RING, CALLS_PASS, "IORING_OP_URING_CMD IORING_OP_URING_CMD128",
	 "socket_setsockopt socket_getsockopt",
	 "other commands go to a device that `file_open` checked, or are equivalent to reads and writes"},
	{CALLS_RING, CALLS_PASS, "IORING_OP_FIXED_FD_INSTALL", "file_receive", NULL},
	{CALLS_RING, CALLS_PASS, "IORING_OP_MSG_RING", "file_receive",
	 "needs a descriptor of the other ring, and cannot receive one from outside"},
	{CALLS_RING, CALLS_PASS, "IORING_OP_MADVISE", "capable", "otherwise " OWN},
	{CALLS_RING, CALLS_PASS,
	 "IORING_OP_NOP IORING_OP_NOP128 IORING_OP_FSYNC IORING_OP_SYNC_FILE_RANGE "
	 "IORING_OP_FADVISE IORING_OP_TEE IORING_OP_SHUTDOWN IORING_OP_POLL_ADD "
	 "IORING_OP_POLL_REMOVE IORING_OP_TIMEOUT IORING_OP_TIMEOUT_REMOVE IORING_OP_ASYNC_CANCEL "
	 "IORING_OP_LINK_TIMEOUT IORING_OP_CLOSE IORING_OP_FILES_UPDATE IORING_OP_EPOLL_CTL "
	 "IORING_OP_EPOLL_WAIT IORING_OP_PROVIDE_BUFFERS IORING_OP_REMOVE_BUFFERS IORING_OP_WAITID "
	 "IORING_OP_FUTEX_WAIT IORING_OP_FUTEX_WAKE IORING_OP_FUTEX_WAITV IORING_OP_PIPE",
	 NULL, "affects only the calling process, or " DESCRIPTOR},
	{CALLS_RING_REGISTER, CALLS_PASS, "IORING_REGISTER_PERSONALITY", "uring_override_creds",
	 NULL},
	{CALLS_RING_REGISTER, CALLS_PASS, "IORING_REGISTER_ZCRX_IFQ", "capable", NULL},
	{CALLS_RING_REGISTER, CALLS_PASS, "IORING_REGISTER_ZCRX_CTRL", NULL,
	 "for a queue that IORING_REGISTER_ZCRX_IFQ created"},
	{CALLS_RING_REGISTER, CALLS_PASS,
	 "IORING_REGISTER_RESTRICTIONS IORING_REGISTER_BPF_FILTER IORING_REGISTER_ENABLE_RINGS",
	 NULL, "restricts its own ring"},
	{CALLS_RING_REGISTER, CALLS_PASS, "IORING_REGISTER_SEND_MSG_RING", NULL,
	 "sends only numbers, to a ring that it has a descriptor of"},
	{CALLS_RING_REGISTER, CALLS_PASS,
	 "IORING_REGISTER_BUFFERS IORING_UNREGISTER_BUFFERS IORING_REGISTER_FILES "
	 "IORING_UNREGISTER_FILES IORING_REGISTER_EVENTFD IORING_UNREGISTER_EVENTFD "
	 "IORING_REGISTER_FILES_UPDATE IORING_REGISTER_EVENTFD_ASYNC IORING_REGISTER_PROBE "
	 "IORING_UNREGISTER_PERSONALITY IORING_REGISTER_FILES2 IORING_REGISTER_FILES_UPDATE2 "
	 "IORING_REGISTER_BUFFERS2 IORING_REGISTER_BUFFERS_UPDATE IORING_REGISTER_IOWQ_AFF "
	 "IORING_UNREGISTER_IOWQ_AFF IORING_REGISTER_IOWQ_MAX_WORKERS IORING_REGISTER_RING_FDS "
	 "IORING_UNREGISTER_RING_FDS IORING_REGISTER_PBUF_RING IORING_UNREGISTER_PBUF_RING "
	 "IORING_REGISTER_SYNC_CANCEL IORING_REGISTER_FILE_ALLOC_RANGE IORING_REGISTER_PBUF_STATUS "
	 "IORING_REGISTER_NAPI IORING_UNREGISTER_NAPI IORING_REGISTER_CLOCK "
	 "IORING_REGISTER_CLONE_BUFFERS IORING_REGISTER_RESIZE_RINGS IORING_REGISTER_MEM_REGION "
	 "IORING_REGISTER_QUERY IORING_REGISTER_USE_REGISTERED_RING",
	 NULL, "registers its own memory and descriptors under other numbers"},

	/* prctl(2). */
	{CALLS_PRCTL, CALLS_PASS, "PR_SCHED_CORE=62", "ptrace_access_check", NULL},
	{CALLS_PRCTL, CALLS_PASS,
	 "PR_SET_MM=35 PR_CAPBSET_DROP=24 PR_SET_SECUREBITS=28 PR_SET_IO_FLUSHER=57", "capable",
	 "otherwise " OWN},
	{CALLS_PRCTL, CALLS_PASS, "PR_CAP_AMBIENT=47", "capable",
	 "later calls check each use of the capability"},
	{CALLS_PRCTL, CALLS_PASS, "PR_SET_PDEATHSIG=1", NULL, "the signal goes to the caller"},
	{CALLS_PRCTL, CALLS_PASS, "PR_SET_PTRACER=1499557217 PR_SET_DUMPABLE=4", NULL,
	 "permits others to trace it; `ptrace_access_check` checks tracers in executions"},
	{CALLS_PRCTL, CALLS_PASS, "PR_SET_CHILD_SUBREAPER=36 PR_GET_CHILD_SUBREAPER=37", NULL,
	 "affects only the calling process and its children"},
	{CALLS_PRCTL, CALLS_PASS, "PR_TASK_PERF_EVENTS_DISABLE=31 PR_TASK_PERF_EVENTS_ENABLE=32",
	 NULL, "for events, which `perf_event_open` denies"},
	{CALLS_PRCTL, CALLS_PASS,
	 "PR_SET_SECCOMP=22 PR_GET_SECCOMP=21 PR_SET_NO_NEW_PRIVS=38 PR_GET_NO_NEW_PRIVS=39 "
	 "PR_SET_MDWE=65 PR_GET_MDWE=66 PR_SET_SYSCALL_USER_DISPATCH=59 PR_CAPBSET_READ=23 "
	 "PR_GET_SECUREBITS=27",
	 NULL, "restricts the calling process further, or returns its restrictions"},
	{CALLS_PRCTL, CALLS_PASS,
	 "PR_GET_PDEATHSIG=2 PR_GET_DUMPABLE=3 PR_GET_KEEPCAPS=7 PR_SET_KEEPCAPS=8 "
	 "PR_GET_TIMING=13 PR_SET_TIMING=14 PR_SET_NAME=15 PR_GET_NAME=16 PR_GET_TSC=25 "
	 "PR_SET_TSC=26 PR_GET_TIMERSLACK=30 PR_SET_TIMERSLACK=29 PR_MCE_KILL=33 "
	 "PR_MCE_KILL_GET=34 PR_GET_TID_ADDRESS=40 PR_SET_THP_DISABLE=41 PR_GET_THP_DISABLE=42 "
	 "PR_MPX_ENABLE_MANAGEMENT=43 PR_MPX_DISABLE_MANAGEMENT=44 PR_GET_SPECULATION_CTRL=52 "
	 "PR_SET_SPECULATION_CTRL=53 PR_GET_IO_FLUSHER=58 PR_SET_VMA=1398164801 "
	 "PR_GET_AUXV=1096112214 PR_SET_MEMORY_MERGE=67 PR_GET_MEMORY_MERGE=68 "
	 "PR_GET_SHADOW_STACK_STATUS=74 PR_SET_SHADOW_STACK_STATUS=75 "
	 "PR_LOCK_SHADOW_STACK_STATUS=76 PR_TIMER_CREATE_RESTORE_IDS=77 PR_FUTEX_HASH=78 "
	 "PR_RSEQ_SLICE_EXTENSION=79 PR_GET_CFI=80 PR_SET_CFI=81",
	 NULL, OWN},
	{CALLS_PRCTL, CALLS_PASS,
	 "PR_GET_UNALIGN=5 PR_SET_UNALIGN=6 PR_GET_FPEMU=9 PR_SET_FPEMU=10 PR_GET_FPEXC=11 "
	 "PR_SET_FPEXC=12 PR_GET_ENDIAN=19 PR_SET_ENDIAN=20 PR_SET_FP_MODE=45 PR_GET_FP_MODE=46 "
	 "PR_SVE_SET_VL=50 PR_SVE_GET_VL=51 PR_SME_SET_VL=63 PR_SME_GET_VL=64 "
	 "PR_PAC_RESET_KEYS=54 PR_PAC_SET_ENABLED_KEYS=60 PR_PAC_GET_ENABLED_KEYS=61 "
	 "PR_SET_TAGGED_ADDR_CTRL=55 PR_GET_TAGGED_ADDR_CTRL=56 PR_RISCV_V_SET_CONTROL=69 "
	 "PR_RISCV_V_GET_CONTROL=70 PR_RISCV_SET_ICACHE_FLUSH_CTX=71 PR_PPC_GET_DEXCR=72 "
	 "PR_PPC_SET_DEXCR=73",
	 NULL, "affects only the calling process, on other architectures"},

	/* fcntl(2). */
	{CALLS_FCNTL, CALLS_PASS,
	 "F_SETFL=4 F_SETOWN=8 F_SETOWN_EX=15 F_SETSIG=10 F_SETLEASE=1024 F_SETDELEG=1040",
	 "file_fcntl file_lock", NULL},
	{CALLS_FCNTL, CALLS_PASS,
	 "F_SETLK=6 F_SETLKW=7 F_SETLK64=13 F_SETLKW64=14 F_OFD_SETLK=37 F_OFD_SETLKW=38",
	 "file_lock", NULL},
	{CALLS_FCNTL, CALLS_PASS, "F_NOTIFY=1026", "path_notify", NULL},
	{CALLS_FCNTL, CALLS_PASS, "F_SETPIPE_SZ=1031", "capable", DESCRIPTOR},
	{CALLS_FCNTL, CALLS_PASS,
	 "F_DUPFD=0 F_DUPFD_CLOEXEC=1030 F_DUPFD_QUERY=1027 F_CREATED_QUERY=1028 F_GETFD=1 "
	 "F_SETFD=2 F_GETFL=3 F_GETLK=5 F_GETLK64=12 F_OFD_GETLK=36 F_CANCELLK=1029 F_GETOWN=9 "
	 "F_GETOWN_EX=16 F_GETOWNER_UIDS=17 F_GETSIG=11 F_GETLEASE=1025 F_GETDELEG=1039 "
	 "F_GETPIPE_SZ=1032 F_ADD_SEALS=1033 F_GET_SEALS=1034 F_GET_RW_HINT=1035 "
	 "F_SET_RW_HINT=1036 F_GET_FILE_RW_HINT=1037 F_SET_FILE_RW_HINT=1038",
	 NULL, DESCRIPTOR},

	/*
	 * ioctls on files, directories, and descriptors of processes and namespaces. Unknown ones
	 * are denied. The rows list the ioctls that pass or require a right.
	 */
	{CALLS_IOCTL, CALLS_PASS,
	 "FS_IOC_SETFLAGS=0x40086602 FS_IOC32_SETFLAGS=0x40046602 FS_IOC_SETVERSION=0x40087602 "
	 "FS_IOC32_SETVERSION=0x40047602 FS_IOC_FSSETXATTR=0x401c5820 "
	 "FS_IOC_ENABLE_VERITY=0x40806685",
	 "file_ioctl file_ioctl_compat inode_file_setattr", "allowed if the file may be written"},
	{CALLS_IOCTL, CALLS_PASS,
	 "FIBMAP=0x1 FIGETBSZ=0x2 FS_IOC_FIEMAP=0xc020660b FS_IOC_GETFLAGS=0x80086601 "
	 "FS_IOC32_GETFLAGS=0x80046601 FS_IOC_GETVERSION=0x80087601 "
	 "FS_IOC32_GETVERSION=0x80047601 FS_IOC_FSGETXATTR=0x801c581f "
	 "FS_IOC_GETFSLABEL=0x81009431 FS_IOC_MEASURE_VERITY=0xc0046686",
	 "file_ioctl inode_file_getattr", "allowed: they return data about an open file"},
	{CALLS_IOCTL, CALLS_PASS,
	 "FICLONE=0x40049409 FICLONERANGE=0x4020940d FIDEDUPERANGE=0xc0189436",
	 "file_ioctl file_permission", "allowed: the file must be open for writing"},
	{CALLS_IOCTL, CALLS_PASS,
	 "FIFREEZE=0xc0045877 FITHAW=0xc0045878 FITRIM=0xc0185879 FS_IOC_SETFSLABEL=0x41009432 "
	 "FS_IOC_GETFSUUID=0x80111500 FS_IOC_GETFSSYSFSPATH=0x80811501 "
	 "FS_IOC_GETLBMD_CAP=0xc0101502 FS_IOC_SHUTDOWN=0x8004587d "
	 "FS_IOC_READ_VERITY_METADATA=0xc0286687 FS_IOC_ADD_ENCRYPTION_KEY=0xc0506617 "
	 "FS_IOC_REMOVE_ENCRYPTION_KEY=0xc0406618 "
	 "FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS=0xc0406619 "
	 "FS_IOC_GET_ENCRYPTION_KEY_STATUS=0xc080661a FS_IOC_SET_ENCRYPTION_POLICY=0x800c6613 "
	 "FS_IOC_GET_ENCRYPTION_POLICY=0x400c6615 FS_IOC_GET_ENCRYPTION_POLICY_EX=0xc0096616 "
	 "FS_IOC_GET_ENCRYPTION_NONCE=0x8010661b FS_IOC_GET_ENCRYPTION_PWSALT=0x40106614 "
	 "NS_GET_USERNS=0xb701 NS_GET_PARENT=0xb702 NS_GET_NSTYPE=0xb703 NS_GET_OWNER_UID=0xb704 "
	 "NS_GET_MNTNS_ID=0x8008b705 NS_GET_PID_FROM_PIDNS=0x8004b706 "
	 "NS_GET_TGID_FROM_PIDNS=0x8004b707 NS_GET_PID_IN_PIDNS=0x8004b708 "
	 "NS_GET_TGID_IN_PIDNS=0x8004b709 NS_MNT_GET_INFO=0x8010b70a NS_MNT_GET_NEXT=0x8010b70b "
	 "NS_MNT_GET_PREV=0x8010b70c NS_GET_ID=0x8008b70d",
	 "file_ioctl file_ioctl_compat", "denied, as is every unknown ioctl on files"},
	{CALLS_IOCTL, CALLS_PASS,
	 "PIDFD_GET_CGROUP_NAMESPACE=0xff01 PIDFD_GET_IPC_NAMESPACE=0xff02 "
	 "PIDFD_GET_MNT_NAMESPACE=0xff03 PIDFD_GET_NET_NAMESPACE=0xff04 "
	 "PIDFD_GET_PID_NAMESPACE=0xff05 PIDFD_GET_PID_FOR_CHILDREN_NAMESPACE=0xff06 "
	 "PIDFD_GET_TIME_NAMESPACE=0xff07 PIDFD_GET_TIME_FOR_CHILDREN_NAMESPACE=0xff08 "
	 "PIDFD_GET_USER_NAMESPACE=0xff09 PIDFD_GET_UTS_NAMESPACE=0xff0a",
	 "ptrace_access_check", NULL},
	{CALLS_IOCTL, CALLS_PASS, "PIDFD_GET_INFO=0xc040ff0b", NULL, TELLS},
	{CALLS_IOCTL, CALLS_PASS,
	 "TIOCSTI=0x5412 TIOCLINUX=0x541c TIOCCONS=0x541d TIOCVHANGUP=0x5437 KDSKBENT=0x4b47 "
	 "KDSKBSENT=0x4b49 KDSETKEYCODE=0x4b4d FIOSETOWN=0x8901 SIOCSPGRP=0x8902 "
	 "TIOCSETD=0x5423 TIOCSLCKTRMIOS=0x5457 KDSETMODE=0x4b3a KDSKBMODE=0x4b45 "
	 "VT_SETMODE=0x5602 VT_LOCKSWITCH=0x560b",
	 "file_ioctl file_ioctl_compat",
	 "denied for all descriptors; a strict filter denies the first two as well"},
	{CALLS_IOCTL, CALLS_PASS,
	 "TIOCSCTTY=0x540e TIOCSPGRP=0x5410 FIOASYNC=0x5452 TIOCEXCL=0x540c TCXONC=0x540a",
	 "file_ioctl file_ioctl_compat",
	 "checks the terminal's session, or the recipient of signals"},
};

const struct calls_row *calls_rows(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(rows);
	return rows;
}

static bool is_listed(const char *names, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = names; length && (at = strstr(at, name)); at += length)
		if ((at == names || at[-1] == ' ') && strchr(" =", at[length]))
			return true;
	return false;
}

const struct calls_row *calls_find(enum calls_kind kind, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].kind == kind && is_listed(rows[i].names, name))
			return &rows[i];
	return NULL;
}

struct count {
	const struct btf *kernel;
	enum calls_kind kind;
	int unknown;
	char *first;
};

static void count_name(struct count *count, const char *name)
{
	if (calls_find(count->kind, name))
		return;
	if (count->unknown++ == 0)
		snprintf(count->first, CALLS_NAME_SIZE, "%s", name);
}

/*
 * Prefixes of a call's functions, one per entry. An architecture's own come first. For a call
 * without arguments, the function that all entries call comes last: only it is certain to be in
 * BTF.
 */
static const char *const prefixes[] = {
	"__x64_sys_",	      "__ia32_sys_",	     "__x64_compat_sys_",
	"__ia32_compat_sys_", "__arm64_sys_arm64_",  "__arm64_compat_sys_aarch32_",
	"__arm64_sys_",	      "__arm64_compat_sys_", "__do_sys_",
};

/* Does the function also exist under an earlier prefix? */
static bool is_counted(const struct count *count, size_t prefix, const char *name)
{
	char function[128];

	for (size_t i = 0; i < prefix; i++) {
		snprintf(function, sizeof(function), "%s%s", prefixes[i], name);
		if (btf__find_by_name_kind(count->kernel, function, BTF_KIND_FUNC) > 0)
			return true;
	}
	return false;
}

static void count_function(struct count *count, const char *function)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		const char *name = function + strlen(prefixes[i]);

		if (strncmp(function, prefixes[i], strlen(prefixes[i])) != 0)
			continue;
		if (!calls_find(count->kind, name) && !is_counted(count, i, name))
			count_name(count, name);
		return;
	}
}

static void count_functions(struct count *count)
{
	__u32 types = btf__type_cnt(count->kernel);

	for (__u32 id = 1; id < types; id++) {
		const struct btf_type *type = btf__type_by_id(count->kernel, id);

		if (btf_is_func(type))
			count_function(count, btf__name_by_offset(count->kernel, type->name_off));
	}
}

/* The number of operations is no operation. */
static bool is_end(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && strcmp(name + length - 5, "_LAST") == 0;
}

static void count_values(struct count *count, const char *enumeration)
{
	int id = btf__find_by_name_kind(count->kernel, enumeration, BTF_KIND_ENUM);
	const struct btf_type *type = id > 0 ? btf__type_by_id(count->kernel, (__u32)id) : NULL;

	for (unsigned int i = 0; type && i < btf_vlen(type); i++) {
		const char *name = btf__name_by_offset(count->kernel, btf_enum(type)[i].name_off);

		if (!is_end(name))
			count_name(count, name);
	}
}

int calls_count_new(const struct btf *kernel, enum calls_kind kind, char ret_first[CALLS_NAME_SIZE])
{
	struct count count = {.kernel = kernel, .kind = kind, .first = ret_first};

	ret_first[0] = '\0';
	if (kind == CALLS_SYSTEM)
		count_functions(&count);
	else
		count_values(&count, kind == CALLS_RING ? "io_uring_op" : "io_uring_register_op");
	return count.unknown;
}
