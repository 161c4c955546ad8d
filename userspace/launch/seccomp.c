/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the seccomp filter that the daemon built, and installs it in the child. */
#include "launch/seccomp.h"

#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/falloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int seccomp_filter_map(int fd, struct sock_fprog *ret_program)
{
	struct stat status;
	void *at;

	if (fd < 0) {
		*ret_program = (struct sock_fprog){};
		return 0;
	}
	if (fstat(fd, &status) < 0)
		return -errno;
	if (status.st_size <= 0 || status.st_size % (off_t)sizeof(struct sock_filter) != 0 ||
	    status.st_size / (off_t)sizeof(struct sock_filter) > BPF_MAXINSNS)
		return -EBADMSG;
	at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	ret_program->len = (unsigned short)((size_t)status.st_size / sizeof(struct sock_filter));
	ret_program->filter = at;
	return 0;
}

void seccomp_filter_unmap(struct sock_fprog *program)
{
	if (program->filter)
		munmap(program->filter, program->len * sizeof(*program->filter));
	*program = (struct sock_fprog){};
}

int seccomp_filter_install(const struct sock_fprog *program)
{
	if (!program->filter)
		return 0;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) < 0 ? -errno : 0;
}

#define FIELD(name)	 ((__u32)offsetof(struct seccomp_data, name))
#define ARGUMENT(number) (FIELD(args) + 8 * (number)) /* its lower half */
#define LOAD(offset)	 BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(value)	 BPF_STMT(BPF_RET | BPF_K, value)
#ifdef __aarch64__
#define NATIVE AUDIT_ARCH_AARCH64
#else
#define NATIVE AUDIT_ARCH_X86_64
#endif
#define NO_APPEND 0x20u /* RWF_NOAPPEND, include/uapi/linux/fs.h, since Linux 6.9 */

int seccomp_keep_appending(void)
{
	static const struct sock_filter instructions[] = {
		/* The policy's filter denies the calls of other ABIs. */
		/* 0 */ LOAD(FIELD(arch)),
		/* 1 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0, 10),
		/* 2 */ LOAD(FIELD(nr)),
		/* 3 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev2, 4, 0),
		/* 4 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 5, 0),
		/* 5 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_setup, 1, 0),
		/* 6 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 5),
		/* 7 */ RETURN(SECCOMP_RET_ERRNO | ENOSYS),
		/* 8 */ LOAD(ARGUMENT(5)),
		/* 9 */ BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NO_APPEND, 3, 2),
		/* 10 */ LOAD(ARGUMENT(1)),
		/* 11 */
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (__u32)~FALLOC_FL_KEEP_SIZE, 1, 0),
		/* 12 */ RETURN(SECCOMP_RET_ALLOW),
		/* 13 */ RETURN(SECCOMP_RET_ERRNO | EOPNOTSUPP),
	};
	const struct sock_fprog program = {.len = ARRAY_SIZE(instructions),
					   .filter = (struct sock_filter *)instructions};

	return seccomp_filter_install(&program);
}
