/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included ahead of every source by clang-tidy alone, which sees one file at a time: what functions
 * of other files promise in their headers, in a form that its analyzer understands.
 */
#ifndef CORDON_LINT_ANALYZER_H
#define CORDON_LINT_ANALYZER_H

#include <errno.h>
#include <sys/queue.h>

#include "base/failure.h"

static inline int analyzer_negative(int error)
{
	return error > 0 ? -error : error < 0 ? error : -EIO;
}

/*
 * They return -abs(error): without that, a caller's outputs look unset after `return
 * failure_set(...)`.
 */
#define failure_set(f, error, ...)                                                                 \
	({                                                                                         \
		int analyzer_error_ = (error);                                                     \
		(failure_set)((f), analyzer_error_, __VA_ARGS__);                                  \
		analyzer_negative(analyzer_error_);                                                \
	})
#define failure_replace(f, error, ...)                                                             \
	({                                                                                         \
		int analyzer_error_ = (error);                                                     \
		(failure_replace)((f), analyzer_error_, __VA_ARGS__);                              \
		analyzer_negative(analyzer_error_);                                                \
	})

/*
 * What is taken off a list is not its first any more: removing writes through a pointer, which the
 * analyzer does not follow.
 */
void *analyzer_any(void);

#undef LIST_FIRST
#undef TAILQ_FIRST
#undef TAILQ_FOREACH
#define LIST_FIRST(head)  ((__typeof__((head)->lh_first))analyzer_any())
#define TAILQ_FIRST(head) ((__typeof__((head)->tqh_first))analyzer_any())
#define TAILQ_FOREACH(item, head, field)                                                           \
	for ((item) = TAILQ_FIRST(head); (item); (item) = TAILQ_NEXT(item, field))

#endif
