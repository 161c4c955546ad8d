/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a report's page. All text that comes from records goes through html_text(). */
#ifndef CORDON_INSIGHT_PAGE_PARTS_H
#define CORDON_INSIGHT_PAGE_PARTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "insight/page/page.h"
#include "insight/story/tree.h"

extern const char page_style[];

/* One execution of the page. */
struct page_execution {
	const char *id; /* owned by its records */
	json_t **records;
	size_t count, capacity;
	const json_t *start, *end; /* or NULL */
	struct tree tree;
	struct denial_groups denials;
	uint64_t denied, would; /* accesses, with merged ones */
	uint64_t attempts;	/* part of `denied` that the kernel's count excludes */
	unsigned int weight;	/* of the most severe denial */
	bool listed, whole;	/* in the contents; with all parts */
};

/* Reports the log's integrity. `missing`: number of events known to be missing. */
void page_integrity_write(FILE *out, const struct page_integrity *integrity, uint64_t missing);

/* Writes the processes over time, as a drawing and as a table. */
void page_processes(FILE *out, const struct page_execution *e, size_t number);

/* Writes denials by rule, the most severe first, with suggested rules. Returns 0 or -ENOMEM. */
int page_denials(FILE *out, const struct page_execution *e);

/* Writes files, network and programs. Returns 0 or -ENOMEM. */
int page_accesses(FILE *out, const struct page_execution *e);

/* Writes a tag if the record is damaged. */
void page_damage(FILE *out, const json_t *record);

/* Writes the execution's properties: policy, limits, environment and result. */
void page_facts(FILE *out, const struct page_execution *e);

/* Writes "exit 0 after 1.2 s". */
void page_result(FILE *out, const struct page_execution *e);

/* Writes "+0.105 s", the time since the execution's start. */
void page_offset(FILE *out, const struct page_execution *e, const json_t *record);

#endif
