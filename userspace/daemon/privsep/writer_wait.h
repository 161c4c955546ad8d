/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for records of a log to be written, and is told, from the loop, what became of them. */
#ifndef CORDON_DAEMON_WRITER_WAIT_H
#define CORDON_DAEMON_WRITER_WAIT_H

#include <event2/event.h>

struct writer;
struct writer_wait;

/* It is told, from the loop. */
void writer_wait_end(struct writer *writer, struct writer_wait *wait, int result);
/* Tells the waiters whose records the answered question to the writer covered. */
void writer_wait_end_covered(struct writer *writer, int result);
/* Until somebody asks again: nobody waits for a flush that cannot be. */
void writer_wait_give_up(struct writer *writer, int error);
/*
 * Nothing can be written now: nobody waits for that, or for another answer. What is in the queue
 * stays.
 */
void writer_wait_fail(struct writer *writer, int error);
void writer_wait_note_closed(struct writer *writer);
/* Somebody knows whether the log can be written: the writer, or why there can be none. */
void writer_wait_note_answer(struct writer *writer, int answer);

/* The event `deliver`. `context`: the writer. */
void writer_wait_on_deliver(evutil_socket_t fd, short what, void *context);

#endif
