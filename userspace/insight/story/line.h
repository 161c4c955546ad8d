/* SPDX-License-Identifier: Apache-2.0 */
/* One line of text per record. */
#ifndef CORDON_INSIGHT_LINE_H
#define CORDON_INSIGHT_LINE_H

#include <jansson.h>
#include <stdio.h>

#include "insight/text/style.h"

/* How many characters of an execution's id are shown: its time of creation. */
#define LINE_ID_WIDTH 12 /* UUID_END_SIZE */

/*
 *   14:03:07.214  019aa3c4-11d2  DENIED  python3[4711]  read of /etc/shadow (policy.yaml:7)
 *
 * Local time: line_day() says which day, and of which zone. With the newline.
 */
void line_write(FILE *out, const struct style *style, const json_t *record);

/*
 * The day of a record, with the zone of its times, in a line of its own where it is another than
 * that of the line before.
 */
struct line_day {
	char text[48];
};
void line_day(FILE *out, const struct style *style, struct line_day *day, const json_t *record);

/* "14:03:07.214"; with `date`, "2026-11-21 14:03:07.214 CET". "" for 0. */
#define LINE_TIME_SIZE 64
void line_time(unsigned long long realtime_nsec, bool date, char text[LINE_TIME_SIZE]);

#endif
