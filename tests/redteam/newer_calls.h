/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that the headers of build hosts may not know: numbers are those of every
 * architecture.
 */
#ifndef CORDON_TESTS_REDTEAM_NEWER_CALLS_H
#define CORDON_TESTS_REDTEAM_NEWER_CALLS_H

#include <linux/types.h>

#define CALL_FCHMODAT2	    452
#define CALL_STATMOUNT	    457
#define CALL_LISTMOUNT	    458
#define CALL_SETXATTRAT	    463
#define CALL_REMOVEXATTRAT  466
#define CALL_OPEN_TREE_ATTR 467
#define CALL_FILE_GETATTR   468
#define CALL_FILE_SETATTR   469
#define CALL_LISTNS	    470
#define CALL_FCHROOT	    472

struct file_attributes {
	__u64 flags;
	__u32 extent_size;
	__u32 extents;
	__u32 project;
	__u32 copied_extent_size;
};

struct xattr_arguments {
	__u64 value;
	__u32 size;
	__u32 flags;
};

#endif
