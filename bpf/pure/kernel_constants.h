/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Constants of the kernel that its type information does not carry, each with its source. */
#ifndef CORDON_BPF_KERNEL_CONSTANTS_H
#define CORDON_BPF_KERNEL_CONSTANTS_H

/* include/uapi/asm-generic/errno-base.h */
#define EPERM	1
#define ENOENT	2
#define ENXIO	6
#define EAGAIN	11
#define ENOMEM	12
#define EACCES	13
#define EBUSY	16
#define EXDEV	18
#define ENOTDIR 20
#define EMFILE	24
#define ENOSPC	28
#define EBADF	9

/* include/linux/fs.h */
#define FMODE_READ	0x1u
#define FMODE_WRITE	0x2u
#define FMODE_EXEC	0x20u /* in f_flags: an exec opens the file; open(2) cannot set it */
#define SB_RDONLY	(1ul << 0)
#define SB_NOUSER	(1ul << 31)
#define SB_KERNMOUNT	(1ul << 22)
#define ATTR_MODE	0x1u
#define ATTR_UID	0x2u
#define ATTR_GID	0x4u
#define ATTR_SIZE	0x8u
#define ATTR_ATIME	0x10u
#define ATTR_MTIME	0x20u
#define ATTR_ATIME_SET	0x80u
#define ATTR_MTIME_SET	0x100u
#define RENAME_EXCHANGE 2u
#define MAY_WRITE	0x2

/* include/linux/sched.h */
#define PF_EXITING  0x4u
#define PF_SIGNALED 0x400u

/* include/linux/dcache.h */
#define DCACHE_OP_COMPARE    0x2u
#define DCACHE_OP_REVALIDATE 0x4u

/* include/linux/fs.h */
#define FS_REQUIRES_DEV 1u

/* kernel/locking/rwsem.c */
#define RWSEM_WRITER_LOCKED 1u

/* include/uapi/linux/stat.h */
#define S_IFMT	      0170000
#define S_IFREG	      0100000
#define S_IFBLK	      0060000
#define S_IFIFO	      0010000
#define S_IFCHR	      0020000
#define S_IFDIR	      0040000
#define S_IFSOCK      0140000
#define S_ISUID	      04000
#define S_ISGID	      02000
#define S_IFLNK	      0120000
#define S_IFIFO	      0010000
#define S_ISDIR(mode) (((mode) & S_IFMT) == S_IFDIR)

/* include/uapi/linux/fcntl.h, asm-generic/fcntl.h */
#define O_ACCMODE     03
#define O_TRUNC	      01000
#define O_APPEND      02000
#define O_ASYNC	      020000
#define __O_TMPFILE   020000000
#define F_SETFL	      4
#define F_SETOWN      8
#define F_SETSIG      10
#define F_SETOWN_EX   15
#define F_SETLEASE    1024
#define F_SETDELEG    1040
#define F_SEAL_SHRINK 0x2
#define F_SEAL_GROW   0x4
#define F_SEAL_WRITE  0x8
#define F_WRLCK	      1
#define F_UNLCK	      2

/* include/uapi/linux/magic.h; include/linux/nsfs and fs/ sources for the last ones */
#define PROC_SUPER_MAGIC    0x9fa0
#define PIPEFS_MAGIC	    0x50495045
#define SOCKFS_MAGIC	    0x534f434b
#define ANON_INODE_FS_MAGIC 0x09041934
#define PIDFS_MAGIC	    0x50494446
#define TMPFS_MAGIC	    0x01021994
#define OVERLAYFS_MAGIC	    0x794c7630
#define EXT4_SUPER_MAGIC    0xef53 /* of ext2 and ext3, too */
#define XFS_SUPER_MAGIC	    0x58465342
#define F2FS_SUPER_MAGIC    0xf2f52010
#define HUGETLBFS_MAGIC	    0x958458f6
#define MQUEUE_MAGIC	    0x19800202
#define DEVPTS_SUPER_MAGIC  0x1cd1

/* include/uapi/asm-generic/mman-common.h, mman.h; include/linux/mm.h */
#define PROT_WRITE 0x2ul
#define PROT_EXEC  0x4ul
#define MAP_SHARED 0x1ul
#define MAP_TYPE   0xful
#define VM_EXEC	   0x4ul
#define VM_SHARED  0x8ul

/* include/linux/socket.h, include/linux/net.h, include/uapi/linux/in.h */
#define AF_UNSPEC	    0
#define AF_UNIX		    1
#define AF_INET		    2
#define AF_INET6	    10
#define AF_SMC		    43
#define SOCK_STREAM	    1
#define SOCK_DGRAM	    2
#define SOCK_RAW	    3
#define SOCK_TYPE_MASK	    0xf
#define IPPROTO_TCP	    6
#define IPPROTO_UDP	    17
#define IPPROTO_HOPOPTS	    0
#define IPPROTO_ROUTING	    43
#define IPPROTO_FRAGMENT    44
#define IPPROTO_ESP	    50
#define IPPROTO_AH	    51
#define IPPROTO_ICMPV6	    58
#define IPPROTO_DSTOPTS	    60
#define SOL_IP		    0
#define SOL_IPV6	    41
#define IP_OPTIONS	    4
#define IPV6_2292PKTOPTIONS 6
#define IPV6_2292RTHDR	    5
#define IPV6_RTHDR	    57
#define IPV6_FLOWLABEL_MGR  32
/* include/uapi/linux/netlink.h, rtnetlink.h */
#define NETLINK_ROUTE  0
#define NLMSG_MIN_TYPE 0x10
#define NLMSG_ALIGNTO  4u
#define NLM_F_CREATE   0x400
#define RTM_KIND_MASK  0x3
#define RTM_KIND_GET   0x2
#define RTM_NEWLINK    16
#define RTM_DELLINK    17
#define RTM_SETLINK    19
#define RTM_NEWADDR    20
#define RTM_DELADDR    21
/* Group memberships: all between the first and the last, source filters included */
#define IPPROTO_IGMP	     2
#define IP_ADD_MEMBERSHIP    35
#define MCAST_JOIN_GROUP     42
#define MCAST_MSFILTER	     48
#define IPV6_ADD_MEMBERSHIP  20
#define IPV6_DROP_MEMBERSHIP 21
#define IPV6_JOIN_ANYCAST    27
#define IPV6_LEAVE_ANYCAST   28
/* include/uapi/linux/tcp.h */
#define SOL_TCP		     6
#define TCP_ZEROCOPY_RECEIVE 35
#define IP_RETOPTS	     7

/* include/uapi/linux/if_ether.h, ip.h */
#define ETH_P_IP   0x0800
#define IPOPT_END  0
#define IPOPT_NOOP 1
#define IPOPT_LSRR 131
#define IPOPT_SSRR 137

/* include/uapi/linux/personality.h; kernel/exec_domain.c; include/uapi/asm-generic/signal.h */
#define READ_IMPLIES_EXEC 0x0400000u
#define SIGINT		  2
#define SIGQUIT		  3
#define SIGKILL		  9
#define SIGTERM		  15
#define SIGCONT		  18
#define SIGSTOP		  19

/* include/uapi/linux/elf.h: the first four bytes, as a little-endian number */
#define ELF_MAGIC 0x464c457fu

/* include/linux/security.h */
#define CAP_OPT_NOAUDIT 2u

/* include/linux/ptrace.h */
#define PTRACE_MODE_READ   0x01u
#define PTRACE_MODE_ATTACH 0x02u

/*
 * include/uapi/asm-generic/ioctls.h, sockios.h: ioctls that insert terminal input or set the
 * recipient of signals
 */
#define TIOCSTI	  0x5412u
#define TIOCLINUX 0x541cu
#define TIOCSCTTY 0x540eu
#define TIOCSPGRP 0x5410u
#define FIOSETOWN 0x8901u
#define FIOASYNC  0x5452u
#define SIOCSPGRP 0x8902u

#define TIOCCONS       0x541du
#define TIOCVHANGUP    0x5437u
#define TIOCEXCL       0x540cu
#define TIOCSETD       0x5423u
#define TIOCSLCKTRMIOS 0x5457u
#define TCXONC	       0x540au
#define TCOOFF	       0ul /* argument of TCXONC */

/* include/uapi/linux/kd.h, vt.h */
#define KDSETMODE     0x4b3au
#define KDSKBMODE     0x4b45u
#define VT_SETMODE    0x5602u
#define VT_LOCKSWITCH 0x560bu
#define KDSKBENT      0x4b47u
#define KDSKBSENT     0x4b49u
#define KDSETKEYCODE  0x4b4du

/* include/uapi/linux/fs.h, fiemap.h, fsverity.h */
#define FIBMAP		      0x1u
#define FIGETBSZ	      0x2u
#define FS_IOC_FIEMAP	      0xc020660bu
#define FS_IOC_GETFLAGS	      0x80086601u
#define FS_IOC32_GETFLAGS     0x80046601u
#define FS_IOC_GETVERSION     0x80087601u
#define FS_IOC32_GETVERSION   0x80047601u
#define FS_IOC_FSGETXATTR     0x801c581fu
#define FS_IOC_GETFSLABEL     0x81009431u
#define FS_IOC_MEASURE_VERITY 0xc0046686u
#define FICLONE		      0x40049409u
#define FICLONERANGE	      0x4020940du
#define FIDEDUPERANGE	      0xc0189436u
#define FS_IOC_SETFLAGS	      0x40086602u
#define FS_CASEFOLD_FL	      0x40000000u
#define S_CASEFOLD	      0x8000u /* of inode.i_flags */
#define FS_IOC32_SETFLAGS     0x40046602u
#define FS_IOC_SETVERSION     0x40087602u
#define FS_IOC32_SETVERSION   0x40047602u
#define FS_IOC_FSSETXATTR     0x401c5820u
#define FS_IOC_ENABLE_VERITY  0x40806685u

/* include/linux/fsnotify_backend.h, include/uapi/linux/fanotify.h: events that require a reply */
#define FSNOTIFY_INODE	      0u
#define FAN_PERMISSION_EVENTS 0x70000ull

/* include/uapi/linux/capability.h */
#define CAP_CHOWN	     0
#define CAP_DAC_OVERRIDE     1
#define CAP_DAC_READ_SEARCH  2
#define CAP_FOWNER	     3
#define CAP_FSETID	     4
#define CAP_KILL	     5
#define CAP_SETGID	     6
#define CAP_SETUID	     7
#define CAP_SETPCAP	     8
#define CAP_NET_BIND_SERVICE 10
#define CAP_NET_ADMIN	     12
#define CAP_IPC_OWNER	     15
#define CAP_SYS_MODULE	     16
#define CAP_SYS_RAWIO	     17
#define CAP_SYS_CHROOT	     18
#define CAP_SYS_PACCT	     20
#define CAP_SYS_ADMIN	     21
#define CAP_SYS_BOOT	     22
#define CAP_SYS_TTY_CONFIG   26
#define CAP_SYSLOG	     34
#define CAP_PERFMON	     38

/* include/uapi/linux/mount.h: mount(2) calls that create no file system */
#define MS_REMOUNT    0x20ul
#define MS_BIND	      0x1000ul
#define MS_MOVE	      0x2000ul
#define MS_UNBINDABLE 0x20000ul
#define MS_PRIVATE    0x40000ul
#define MS_SLAVE      0x80000ul
#define MS_SHARED     0x100000ul

/* include/uapi/linux/fcntl.h */
#define AT_FDCWD (-100)

/* include/uapi/linux/sched.h */
#define CLONE_PARENT	  0x00008000ull
#define CLONE_THREAD	  0x00010000ull
#define CLONE_NEWNET	  0x40000000ull
#define CLONE_INTO_CGROUP 0x200000000ull

/* Error pointers: include/linux/err.h */
#define MAX_ERRNO	4095
#define IS_ERR_VALUE(x) ((unsigned long)(x) >= (unsigned long)-MAX_ERRNO)

#endif
