/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls, io_uring operations, options and ioctls of the known kernels. For each: the
 * hooks that check it, when the system call filter denies it, or why neither is needed.
 * docs/reference/system-calls.md is generated from this table.
 *
 * The kernel's BTF names its system calls and io_uring operations. Options of prctl(2), commands of
 * fcntl(2) and ioctls are macros, so their numbers are in the table ("NAME=NUMBER"). A test can
 * then query whether a kernel knows the number.
 */
#ifndef CORDON_KERNEL_CALLS_H
#define CORDON_KERNEL_CALLS_H

#include <stddef.h>

struct btf;

#define CALLS_NAME_SIZE 64

enum calls_kind {
	CALLS_SYSTEM, /* by the kernel's function, without its prefix */
	CALLS_RING,
	CALLS_RING_REGISTER,
	CALLS_PRCTL,
	CALLS_FCNTL,
	CALLS_IOCTL,
	CALLS_KINDS,
};

/*
 * When the filter denies a call. The filter does not see io_uring operations, and sees only numbers
 * in arguments.
 */
enum calls_filter {
	CALLS_PASS,
	CALLS_REFUSED,
	CALLS_UNLESS_NAMESPACES, /* unless namespaces are allowed */
	CALLS_UNLESS_IO_URING,
	CALLS_STRICT, /* denied by a strict filter only, as are the two below */
	CALLS_STRICT_NAMESPACES,
	CALLS_STRICT_TRACING,
	CALLS_PARTLY, /* denied for some arguments */
};

struct calls_row {
	enum calls_kind kind;
	enum calls_filter filter;
	const char *names; /* separated by spaces */
	const char *hooks; /* likewise; NULL: none */
	/* why no hook is needed, or why these suffice; NULL: the hooks are sufficient */
	const char *why;
};

const struct calls_row *calls_rows(size_t *ret_count);

/* NULL: not known. */
const struct calls_row *calls_find(enum calls_kind kind, const char *name);

/*
 * Returns the number of unknown calls of this kind (CALLS_SYSTEM to CALLS_RING_REGISTER) in the
 * kernel; ret_first is one of them, or "".
 */
int calls_count_new(const struct btf *kernel, enum calls_kind kind,
		    char ret_first[CALLS_NAME_SIZE]);

#endif
