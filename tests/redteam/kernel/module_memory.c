// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: loads a kernel module from memory
 * Hook: kernel_load_data
 * Errno: EPERM
 * Control: uses its own file
 * Record: kernel-load $ANY
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	struct stat about;
	int fd = NEED(open(open_place("module.ko"), O_RDONLY | O_CLOEXEC)), error;
	void *image;

	NEED(fstat(fd, &about));
	image = NEED(mmap(NULL, about.st_size, PROT_READ, MAP_PRIVATE, fd, 0));
	error = outcome(syscall(SYS_init_module, image, about.st_size, ""));
	if (!error)
		syscall(SYS_delete_module, setting("REDTEAM_MODULE_NAME"), O_NONBLOCK);
	/* There already: nothing else was in its way. */
	return error == EEXIST ? 0 : error;
}

REDTEAM(.attack = attack)
