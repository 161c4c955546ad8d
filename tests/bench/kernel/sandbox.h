/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own sandboxes, put on by the process itself: what cordon is compared with. */
#ifndef CORDON_BENCH_SANDBOX_H
#define CORDON_BENCH_SANDBOX_H

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure.h"

#define FS_WRITES                                                                                  \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                           \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |                            \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                              \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)
#define FS_READS                                                                                   \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ABI_WITH_NET 4
#define NET_BIND     (1ull << 0)
#define NET_CONNECT  (1ull << 1)
#define RULE_NET     2

/* Younger than the installed header. */
struct net_ruleset {
	uint64_t fs;
	uint64_t net;
};

struct net_rule {
	uint64_t access;
	uint64_t port;
};

static inline void landlock_path(int ruleset, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = access};
	struct stat status;

	rule.parent_fd = (int)must(open(path, O_PATH | O_CLOEXEC), path);
	must(fstat(rule.parent_fd, &status), path);
	if (!S_ISDIR(status.st_mode))
		rule.allowed_access &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
				       LANDLOCK_ACCESS_FS_READ_FILE;
	must(syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0), path);
	close(rule.parent_fd);
}

/*
 * `rules` rules for paths: the place of work, what programs read, and below `filler` directories 1,
 * 2, 3, ... for the rest. Where this kernel has them, rules for the ports in use, too.
 */
static inline void enter_landlock(const char *work, const char *filler, int rules, const int *ports)
{
	static const char *const read[] = {"/usr", "/etc", "/dev",	 "/proc",
					   "/sys", "/run", "/bench-file"};
	long abi =
		must(syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION),
		     "landlock");
	struct net_ruleset handled = {.fs = FS_READS | FS_WRITES,
				      .net = abi >= ABI_WITH_NET ? NET_BIND | NET_CONNECT : 0};
	int ruleset = (int)must(syscall(SYS_landlock_create_ruleset, &handled,
					abi >= ABI_WITH_NET ? 16 : 8, 0),
				"landlock_create_ruleset");
	char path[128];
	int made = 1;

	landlock_path(ruleset, work, FS_READS | FS_WRITES);
	for (; made < rules && made <= (int)(sizeof(read) / sizeof(read[0])); made++)
		landlock_path(ruleset, read[made - 1], FS_READS);
	for (; made < rules; made++) {
		snprintf(path, sizeof(path), "%s/%d", filler, made);
		landlock_path(ruleset, path, FS_READS);
	}
	for (; handled.net && *ports; ports++) {
		struct net_rule rule = {.access = handled.net, .port = (uint64_t)*ports};

		must(syscall(SYS_landlock_add_rule, ruleset, RULE_NET, &rule, 0), "landlock port");
	}
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	must(syscall(SYS_landlock_restrict_self, ruleset, 0), "landlock_restrict_self");
	close(ruleset);
}

/* A program as seccomp_export_bpf(3) writes it. */
static inline void enter_seccomp(const char *path)
{
	static struct sock_filter filter[BPF_MAXINSNS];
	struct sock_fprog program = {.filter = filter};
	int fd = (int)must(open(path, O_RDONLY | O_CLOEXEC), path);
	long size = must(read(fd, filter, sizeof(filter)), path);

	close(fd);
	program.len = (unsigned short)((size_t)size / sizeof(filter[0]));
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), "seccomp");
}

#endif
