/* SPDX-License-Identifier: Apache-2.0 */
/* File systems with directories that compare names without case. */
#ifndef CORDON_REDTEAM_FOLDING_H
#define CORDON_REDTEAM_FOLDING_H

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static inline void give_to_attacker(const char *path)
{
	NEED(chown(path, attacker(), attacker()));
}

/* An ext4 that can have such directories, at "folding". */
static inline void mount_folding(void)
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
	give_to_attacker("folding");
}

/* The same with such a directory, "folding/dir", and "folding/plain", which compares bytes. */
static inline void make_folding(void)
{
	int fd, flags;

	mount_folding();
	NEED(mkdir("folding/plain", 0755));
	give_to_attacker("folding/plain");
	NEED(mkdir("folding/dir", 0755));
	give_to_attacker("folding/dir");
	fd = NEED(open("folding/dir", O_RDONLY | O_CLOEXEC));
	NEED(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags |= FS_CASEFOLD_FL;
	NEED(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	close(fd);
}

static inline void make_attackers_file(const char *path)
{
	make_file(path, "text\n", 0644);
	give_to_attacker(path);
}

#define FAT_SECTOR  512
#define FAT_SECTORS 20480
#define FAT_TABLE   80	/* sectors; two bytes for each cluster of a sector */
#define FAT_ROOT    512 /* entries of 32 bytes */

/* A FAT16 with nothing in it, at "dos". (Microsoft, FAT: General Overview of On-Disk Format.) */
static inline void mount_dos(void)
{
	static const unsigned char boot[62] = {0xeb,
					       0x3c,
					       0x90,
					       'c',
					       'o',
					       'r',
					       'd',
					       'o',
					       'n',
					       ' ',
					       ' ',
					       FAT_SECTOR & 0xff,
					       FAT_SECTOR >> 8,
					       1 /* sector a cluster */,
					       1,
					       0 /* reserved */,
					       1 /* table */,
					       FAT_ROOT & 0xff,
					       FAT_ROOT >> 8,
					       FAT_SECTORS & 0xff,
					       FAT_SECTORS >> 8,
					       0xf8,
					       FAT_TABLE,
					       0,
					       32,
					       0,
					       64,
					       0,
					       0,
					       0,
					       0,
					       0,
					       0,
					       0,
					       0,
					       0,
					       0x80,
					       0,
					       0x29,
					       1,
					       2,
					       3,
					       4,
					       'N',
					       'O',
					       ' ',
					       'N',
					       'A',
					       'M',
					       'E',
					       ' ',
					       ' ',
					       ' ',
					       ' ',
					       'F',
					       'A',
					       'T',
					       '1',
					       '6',
					       ' ',
					       ' ',
					       ' '};
	static const unsigned char end[2] = {0x55, 0xaa}, table[4] = {0xf8, 0xff, 0xff, 0xff};
	char image[] = "/tmp/dos-XXXXXX", command[PATH_SIZE];
	int fd = NEED(mkstemp(image));

	NEED(ftruncate(fd, FAT_SECTORS * FAT_SECTOR));
	NEED(pwrite(fd, boot, sizeof(boot), 0));
	NEED(pwrite(fd, end, sizeof(end), 510));
	NEED(pwrite(fd, table, sizeof(table), FAT_SECTOR));
	close(fd);
	NEED(mkdir("dos", 0755));
	snprintf(command, sizeof(command),
		 "modprobe -aq loop vfat nls_cp437 nls_ascii nls_utf8 nls_iso8859-1; "
		 "mount -t vfat -o loop,uid=%u,gid=%u,utf8 %s dos",
		 attacker(), attacker(), image);
	NEED(system(command) == 0 ? 0 : -1);
	NEED(unlink(image));
}

#endif
