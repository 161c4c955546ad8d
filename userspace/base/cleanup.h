/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope-bound release of memory, descriptors and library objects, and the means to hand them
 * over: `_cleanup_(freep) char *s = ...; return TAKE_PTR(s);`
 */
#ifndef CORDON_BASE_CLEANUP_H
#define CORDON_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f)	   __attribute__((cleanup(f)))
#define _printf_(fmt, arg) __attribute__((format(printf, fmt, arg)))
#define _must_check_	   __attribute__((warn_unused_result))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) *take_from_ = &(p);                                                  \
		__typeof__(p) taken_ = *take_from_;                                                \
		*take_from_ = NULL;                                                                \
		taken_;                                                                            \
	})

#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int *take_from_ = &(fd);                                                           \
		int taken_ = *take_from_;                                                          \
		*take_from_ = -1;                                                                  \
		taken_;                                                                            \
	})

/* Defines `void NAMEp(TYPE *p)`, which calls FUNCTION unless *p is NULL. */
#define DEFINE_CLEANUP(type, function, name)                                                       \
	static inline void name(type *p)                                                           \
	{                                                                                          \
		if (*p)                                                                            \
			function(*p);                                                              \
	}

static inline void freep(void *p)
{
	free(*(void **)p);
}

/* Closes *fd if it is one; errno survives. */
static inline void closep(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

DEFINE_CLEANUP(FILE *, fclose, fclosep)
DEFINE_CLEANUP(DIR *, closedir, closedirp)

#endif
