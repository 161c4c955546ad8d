/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the filter's first part: calls that depend on many values of one argument. */
#include "launch/seccomp_values.h"

#include <assert.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/cleanup.h"

#define WORD_BITS     32
#define QUERY	      0xffffffffu /* personality(2): query only */
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
#define FIELD(name)   ((__u32)offsetof(struct seccomp_data, name))

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FIRST_ARGUMENT (FIELD(args) + 4)
#else
#define FIRST_ARGUMENT FIELD(args)
#endif

static_assert(AF_MAX <= 2 * WORD_BITS, "two words hold a bit for each family");

#define LOAD(offset)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)

/*
 * Checks only the argument's lower half, as the kernel does. The kernel itself rejects numbers from
 * AF_MAX on. Each of two words has bits for half of the families.
 */
static size_t add_families(const struct policy_system_calls *calls, struct sock_filter *at)
{
	const uint64_t refused = ~calls->families & ((1ull << AF_MAX) - 1);
	const struct sock_filter program[] = {
		/* 0 */ LOAD(FIELD(nr)),
		/* 1 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0),
		/* 2 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0, 13),
		/* 3 */ LOAD(FIRST_ARGUMENT),
		/* 4 */ BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, AF_MAX, 11, 0),
		/* 5 */ BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, WORD_BITS, 0, 5),
		/* 6 */ BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, WORD_BITS),
		/* 7 */ BPF_STMT(BPF_MISC | BPF_TAX, 0),
		/* 8 */ BPF_STMT(BPF_LD | BPF_IMM, 1),
		/* 9 */ BPF_STMT(BPF_ALU | BPF_LSH | BPF_X, 0),
		/* 10 */ BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (__u32)(refused >> WORD_BITS), 4, 5),
		/* 11 */ BPF_STMT(BPF_MISC | BPF_TAX, 0),
		/* 12 */ BPF_STMT(BPF_LD | BPF_IMM, 1),
		/* 13 */ BPF_STMT(BPF_ALU | BPF_LSH | BPF_X, 0),
		/* 14 */ BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (__u32)refused, 0, 1),
		/* 15 */ RETURN(REFUSE(EAFNOSUPPORT)),
	};

	memcpy(at, program, sizeof(program));
	return ARRAY_SIZE(program);
}

/* Permits the query. */
static size_t add_personality(struct sock_filter *at)
{
	const struct sock_filter program[] = {
		/* 0 */ LOAD(FIELD(nr)),
		/* 1 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 4),
		/* 2 */ LOAD(FIRST_ARGUMENT),
		/* 3 */ BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, READ_IMPLIES_EXEC, 0, 2),
		/* 4 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, QUERY, 1, 0),
		/* 5 */ RETURN(REFUSE(EPERM)),
	};

	memcpy(at, program, sizeof(program));
	return ARRAY_SIZE(program);
}

size_t seccomp_values_build(const struct policy_system_calls *calls,
			    struct sock_filter ret_program[SECCOMP_VALUES_MAX])
{
	size_t length = 2;

	/*
	 * Other architectures have other call numbers; libseccomp's part denies all of their calls.
	 */
	ret_program[0] = (struct sock_filter)LOAD(FIELD(arch));
	length += add_families(calls, ret_program + length);
	if (!calls->executable_memory)
		length += add_personality(ret_program + length);
	ret_program[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						      seccomp_arch_native(), 0, length - 2);
	return length;
}
