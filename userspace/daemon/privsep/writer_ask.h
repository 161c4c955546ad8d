/* SPDX-License-Identifier: Apache-2.0 */
/* What is said to a log's writer, and in which order: records, and one question at a time. */
#ifndef CORDON_DAEMON_WRITER_ASK_H
#define CORDON_DAEMON_WRITER_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer;

/* Puts a question next. None is on its way. */
void writer_ask(struct writer *writer, uint32_t request, const void *payload, size_t size);
/* Says what there is to say, as far as there is room. */
int writer_ask_on(struct writer *writer);

/* Is it wanted, or on its way? */
bool writer_ask_is_open(const struct writer *writer, uint32_t request);
/* For how long it has not answered. */
uint64_t writer_ask_silent_nsec(const struct writer *writer);

#endif
