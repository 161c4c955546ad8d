/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Hashes of names as programs pass them to system calls. The kernel programs recognise the names of
 * an execution's code by their hash. Nothing is granted for a hash: if two names had the same one,
 * both would count as the code's.
 */
#ifndef CORDON_BPF_NAME_HASH_H
#define CORDON_BPF_NAME_HASH_H

#include "bpf/abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define NAME_HASH_START 0x9e3779b97f4a7c15ull
/* Longer names have no hash. */
#define NAME_HASH_WORDS 128u
#define NAME_HASH_MAX	(8 * NAME_HASH_WORDS)

/* Adds eight bytes of the name, in host byte order; zeros follow its end. */
static __always_inline __u64 name_hash_word(__u64 hash, __u64 word)
{
	hash ^= word;
	hash *= 0xff51afd7ed558ccdull; /* finalizer of MurmurHash3 */
	return hash ^ hash >> 33;
}

/* 0 is no valid hash. */
static __always_inline __u64 name_hash_end(__u64 hash)
{
	return hash ? hash : 1;
}

#ifndef __bpf__
#include <string.h>

/* Returns 0 if the name is too long. */
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
