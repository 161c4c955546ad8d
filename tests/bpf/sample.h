/* SPDX-License-Identifier: Apache-2.0 */
/* Interface between tests/bpf/matcher.c and the program in tests/bpf/matcher.bpf.c. */
#ifndef CORDON_TESTS_SAMPLE_H
#define CORDON_TESTS_SAMPLE_H

#include "bpf/abi.h"
#include "bpf/pure/verdict.h"

#define SAMPLE_BATCH	  512u
#define SAMPLE_COMPONENTS 64u
#define SAMPLE_BYTES	  256u

struct sample_question {
	/* in */
	__u32 wanted;
	__u32 listing;
	__u32 depth;
	/* components below it; 0xffffffff: the name is not below it */
	__u32 anchor_depth[CORDON_MAX_ANCHORS];
	struct {
		__u16 offset, length;	 /* in `bytes` */
	} components[SAMPLE_COMPONENTS]; /* innermost first */
	__u8 bytes[SAMPLE_BYTES];
	/* out */
	struct verdict verdict;
	__u32 missing;
	__u16 rule;
	__u8 reason;
	__u8 broken;	/* damaged tables, or another result from the directory on */
	__u32 resumed;	/* checked again from the directory on */
	__u32 reserved; /* map elements start at multiples of eight */
};

_Static_assert(sizeof(struct sample_question) % 8 == 0, "as elements of a map are mapped");

/* Context of the program. */
struct sample_request {
	__u32 count; /* in: number of checks */
	__u32 asked; /* out: checks performed */
};

#endif
