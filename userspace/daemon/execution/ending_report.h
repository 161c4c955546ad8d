/* SPDX-License-Identifier: Apache-2.0 */
/* What an execution was refused, told at its end to who started it (`cordon run --report`). */
#ifndef CORDON_DAEMON_ENDING_REPORT_H
#define CORDON_DAEMON_ENDING_REPORT_H

#include "daemon/execution/execution.h"

/*
 * Makes e->ending.report_fd, a sealed memfd with JSON at its start, if the execution has an owner.
 * Where the report lists much, that is done beside the loop, as e->ending.reporting; `done` is
 * called then, and never before this returns. Without memory or processes there is no report.
 */
void ending_report_begin(struct execution *e, void (*done)(struct execution *e));

/* It is not wanted any more. */
void ending_report_cancel(struct execution *e);

#endif
