/* SPDX-License-Identifier: Apache-2.0 */
/* One line of text per record. */
#ifndef CORDON_INSIGHT_LINE_H
#define CORDON_INSIGHT_LINE_H

#include <jansson.h>
#include <stdio.h>

#include "insight/text/style.h"

/* Characters of an execution's id that are shown: its last group. */
#define LINE_ID_WIDTH 12 /* UUID_END_SIZE */

/*
 * 14:03:07.214 019aa3c4-11d2 DENIED python3[4711] read of /etc/shadow (policy.yaml:7)
 *
 * Writes a record as one line in local time; line_day() writes the date and time zone.
 */
void line_write(FILE *out, const struct style *style, const json_t *record);

/*
 * Writes a record's date and time zone on a separate line if they differ from the previous line's.
 */
struct line_day {
	char text[48];
};
void line_day(FILE *out, const struct style *style, struct line_day *day, const json_t *record);

/* Formats "14:03:07.214"; with `date` "2026-11-21 14:03:07.214 CET"; "" for 0. */
#define LINE_TIME_SIZE 64
void line_time(unsigned long long realtime_nsec, bool date, char text[LINE_TIME_SIZE]);

#endif
