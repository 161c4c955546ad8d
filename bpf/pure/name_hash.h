/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Names as they are asked for, as numbers: by which the kernel's programs know the code's names.
 * Nothing is granted for a number: two names of one would be taken for the same code.
 */
#ifndef CORDON_BPF_NAME_HASH_H
#define CORDON_BPF_NAME_HASH_H

#include "bpf/abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define NAME_HASH_START 0x9e3779b97f4a7c15ull
/* Longer names have no number. */
#define NAME_HASH_WORDS 128u
#define NAME_HASH_MAX	(8 * NAME_HASH_WORDS)

/* Eight bytes of the name, in the host's order; behind its end there are zeros. */
static __always_inline __u64 name_hash_word(__u64 hash, __u64 word)
{
	hash ^= word;
	hash *= 0xff51afd7ed558ccdull; /* finalizer of MurmurHash3 */
	return hash ^ hash >> 33;
}

/* 0 is no name's. */
static __always_inline __u64 name_hash_end(__u64 hash)
{
	return hash ? hash : 1;
}

#ifndef __bpf__
#include <string.h>

/* 0: the name is too long. */
static inline __u64 name_hash(const char *name)
{
	size_t length = strlen(name);
	__u64 hash = NAME_HASH_START;

	if (length >= NAME_HASH_MAX)
		return 0;
	for (size_t at = 0; at < length; at += 8) {
		__u64 word = 0;

		memcpy(&word, name + at, length - at < 8 ? length - at : 8);
		hash = name_hash_word(hash, word);
	}
	return name_hash_end(hash);
}
#endif

#endif
