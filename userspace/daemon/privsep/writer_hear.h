/* SPDX-License-Identifier: Apache-2.0 */
/* What a log's writer answers, and what follows from it. */
#ifndef CORDON_DAEMON_WRITER_HEAR_H
#define CORDON_DAEMON_WRITER_HEAR_H

struct writer;

/* Takes what it has said, one answer at a time; -EPIPE: it has gone. */
int writer_hear(struct writer *writer);

#endif
