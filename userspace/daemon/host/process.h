/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says about another process. */
#ifndef CORDON_DAEMON_PROCESS_H
#define CORDON_DAEMON_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The process behind a pidfd. -EBADF: not a pidfd; -ESRCH: it is gone (reaped). */
int process_of_pidfd(int pidfd, pid_t *ret_pid);

/* As /proc shows it: of a thread of the kernel's with what it works on. */
#define PROCESS_NAME_SIZE 64u

struct process_status {
	char name[PROCESS_NAME_SIZE];
	pid_t parent;
	char state;	     /* 'R', 'S', 'Z', ... */
	uint64_t start_nsec; /* boot clock; with the pid this names the process */
	bool in_place; /* its program is: false in the middle of an execve(2), and of a thread of the kernel's */
};

/* -ESRCH: no such process. */
int process_status(pid_t pid, struct process_status *ret_status);

/* The text of /proc/PID/stat. -EBADMSG. */
int process_status_parse(const char *stat, struct process_status *ret_status);

/* Whom it was logged in as (its audit login uid). -ENODATA: nobody, as services are; -errno. */
int process_login(pid_t pid, uint32_t *ret_uid);

/*
 * Whose it is: its real user id, which /proc tells of one that may not be dumped, too, unlike the
 * owner of its directory there. -ESRCH: it is gone; -errno.
 */
int process_uid(pid_t pid, uid_t *ret_uid);

/* Is the process that had this pid and start time still there (zombies are not)? */
bool process_alive(pid_t pid, uint64_t start_nsec);
/* The same where the kernel gave the time, of which /proc has hundredths of a second. */
bool process_alive_since(pid_t pid, uint64_t start_nsec);

/*
 * Does its cgroup (v2) end in `suffix`, which starts with '/'? Negative: /proc could not be read.
 */
int process_in_cgroup(pid_t pid, const char *suffix);

#endif
