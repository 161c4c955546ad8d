/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/seccomp.h"

#include <linux/bpf_common.h>
#include <linux/seccomp.h>
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
