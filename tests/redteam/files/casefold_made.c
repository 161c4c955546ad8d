// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a directory case-insensitive, so that names which rules deny have other spellings
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: reads the directory's flags, and sets those of a file
 * Record: ioctl $ANY
 * Where: tmpfs
 */
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include "tests/redteam/attack.h"

/* A file system that has such directories. */
static void setup(void)
{
	char image[] = "/tmp/casefold-XXXXXX", command[PATH_SIZE];

	close(NEED(mkstemp(image)));
	NEED(mkdir("folding", 0755));
	snprintf(command, sizeof(command),
		 "modprobe -aq loop ext4; truncate -s 16M %s && mkfs.ext4 -q -O casefold %s && "
		 "mount -o loop %s folding",
		 image, image, image);
	NEED(system(command) == 0 ? 0 : -1);
	NEED(unlink(image));
	NEED(mkdir("folding/empty", 0755));
	make_file("folding/file", "text\n", 0644);
	NEED(chown("folding", attacker(), attacker()));
	NEED(chown("folding/empty", attacker(), attacker()));
	NEED(chown("folding/file", attacker(), attacker()));
}

static int set_flag(const char *path, int flag)
{
	int fd = NEED(open(path, O_RDONLY | O_CLOEXEC)), flags;

	NEED(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags |= flag;
	return flag ? outcome(ioctl(fd, FS_IOC_SETFLAGS, &flags)) : 0;
}

static int attack(void)
{
	return set_flag("folding/empty", FS_CASEFOLD_FL);
}

static int control(void)
{
	int error = set_flag("folding/empty", 0);

	return error ? error : set_flag("folding/file", FS_NODUMP_FL);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
