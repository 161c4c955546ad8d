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
	const char *id; /* borrowed from its records */
	json_t **records;
	size_t count, capacity;
	const json_t *start, *end; /* or NULL */
	struct tree tree;
	struct denial_groups denials;
	uint64_t denied, would; /* accesses, merged ones included */
	uint64_t attempts;	/* of `denied`, those that the kernel's count leaves out */
	unsigned int weight;	/* of the gravest denial */
	bool listed, whole;	/* in the contents; with all its parts */
};

/* Can the log be believed? `missing`: events that are known to be. */
void page_integrity_write(FILE *out, const struct page_integrity *integrity, uint64_t missing);

/* The processes over time, as a drawing and as a table. */
void page_processes(FILE *out, const struct page_execution *e, size_t number);

/* Denials by the rule that decided, the gravest first, with what would allow them. -ENOMEM. */
int page_denials(FILE *out, const struct page_execution *e);

/* Files, network, programs. -ENOMEM. */
int page_accesses(FILE *out, const struct page_execution *e);

/* A tag where the record cannot be believed. */
void page_damage(FILE *out, const json_t *record);

/* What it was, under which policy and limits, with which environment, and how it ended. */
void page_facts(FILE *out, const struct page_execution *e);

/* "exit 0 after 1.2 s" */
void page_result(FILE *out, const struct page_execution *e);

/* "+0.105 s" from the execution's start. */
void page_offset(FILE *out, const struct page_execution *e, const json_t *record);

#endif
