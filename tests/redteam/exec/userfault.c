// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: fills the pages of a mapped program with code of its own
 * Hook: inode_init_security_anon
 * Errno: EACCES
 * Control: maps that program
 * Record: mmap @anonymous
 * Where: tmpfs
 */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "tests/redteam/attack.h"
#include "tests/redteam/machine_code.h"

static void *map_program(void)
{
	int fd = NEED(open(open_place("become-root"), O_RDONLY | O_CLOEXEC));
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (code == MAP_FAILED)
		broken("mmap");
	return code;
}

static int attack(void)
{
	static unsigned char page[4096] __attribute__((aligned(4096)));
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register area = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	struct uffdio_copy copy = {.src = (unsigned long)page, .len = 4096};
	void *code = map_program();
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		return errno;
	put_machine_code(page, machine_answer, sizeof(machine_answer));
	area.range.start = copy.dst = (unsigned long)code;
	area.range.len = 4096;
	NEED(ioctl(fd, UFFDIO_API, &api));
	NEED(ioctl(fd, UFFDIO_REGISTER, &area));
	NEED(ioctl(fd, UFFDIO_COPY, &copy));
	return ((int (*)(void))code)() == MACHINE_ANSWER ? 0 : BROKEN;
}

static int control(void)
{
	return munmap(map_program(), 4096) < 0 ? errno : 0;
}

REDTEAM(.attack = attack, .control = control)
