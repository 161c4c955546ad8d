/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls, io_uring operations, options and ioctls of the known kernels: the hooks that
 * check each, when the system call filter denies it, or why neither is needed.
 * docs/reference/system-calls.md is generated from this table.
 *
 * A kernel's own types name its system calls and the operations of io_uring. Options of prctl(2),
 * commands of fcntl(2) and ioctls are macros, so that their numbers stand here ("NAME=NUMBER"): a
 * kernel can be asked whether it knows a number.
 */
#ifndef CORDON_KERNEL_CALLS_H
#define CORDON_KERNEL_CALLS_H

#include <stddef.h>

struct btf;

#define CALLS_NAME_SIZE 64

enum calls_kind {
	CALLS_SYSTEM, /* by the kernel's function for it: what names of functions begin with is left out */
	CALLS_RING,
	CALLS_RING_REGISTER,
	CALLS_PRCTL,
	CALLS_FCNTL,
	CALLS_IOCTL,
	CALLS_KINDS,
};

/*
 * When the filter refuses them. It never sees what rings are asked for, and of arguments numbers
 * only.
 */
enum calls_filter {
	CALLS_PASS,
	CALLS_REFUSED,
	CALLS_UNLESS_NAMESPACES, /* are allowed */
	CALLS_UNLESS_IO_URING,
	CALLS_STRICT, /* refused by a strict filter alone, as are the two below */
	CALLS_STRICT_NAMESPACES,
	CALLS_STRICT_TRACING,
	CALLS_PARTLY, /* for some of their arguments */
};

struct calls_row {
	enum calls_kind kind;
	enum calls_filter filter;
	const char *names; /* with spaces between */
	const char *hooks; /* likewise; NULL: none */
	const char *why;   /* that is enough; NULL: hooks say all */
};

const struct calls_row *calls_rows(size_t *ret_count);

/* NULL: not known. */
const struct calls_row *calls_find(enum calls_kind kind, const char *name);

/*
 * How many of this kind (CALLS_SYSTEM to CALLS_RING_REGISTER) the kernel has that are not known;
 * ret_first is one, or "".
 */
int calls_count_new(const struct btf *kernel, enum calls_kind kind,
		    char ret_first[CALLS_NAME_SIZE]);

#endif
