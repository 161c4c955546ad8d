/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the waits for records of a log to be written. The loop delivers the results. */
#ifndef CORDON_DAEMON_WRITER_WAIT_H
#define CORDON_DAEMON_WRITER_WAIT_H

#include <event2/event.h>

struct writer;
struct writer_wait;

/* Completes the wait with `result`. Its callback runs later, from the loop. */
void writer_wait_end(struct writer *writer, struct writer_wait *wait, int result);
/* Completes the waits that the finished flush covered. */
void writer_wait_end_covered(struct writer *writer, int result);
/*
 * Completes all waits for a flush with `error`, and drops pending flushes, because no flush is
 * possible now.
 */
void writer_wait_give_up(struct writer *writer, int error);
/*
 * Notes that nothing can be written now: completes all waits for a flush, and drops all pending
 * requests. The queue stays.
 */
void writer_wait_fail(struct writer *writer, int error);
void writer_wait_note_closed(struct writer *writer);
/* Notes whether the log can be written: the writer's reply, or why there is no writer. */
void writer_wait_note_answer(struct writer *writer, int answer);

/* Callback of the event `deliver`. `context`: the writer. */
void writer_wait_on_deliver(evutil_socket_t fd, short what, void *context);

#endif
