/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The engine: the functions that most LSM programs share, loaded once instead of once per program.
 * In the LSM programs these functions are stubs that deny. Each program here replaces the stub of
 * its name in every LSM program (BPF_PROG_TYPE_EXT; kernel/engine.c).
 *
 * This file is included last, because the kernel verifies an extension against a program that is
 * loaded already. fentry, fexit and iterator programs cannot be extended, or only by programs of
 * their type. They call the bodies.
 */
#ifndef CORDON_BPF_HOOK_ENGINE_BPF_H
#define CORDON_BPF_HOOK_ENGINE_BPF_H

#include "bpf/core/code.bpf.h"
#include "bpf/core/elsewhere.bpf.h"
#include "bpf/core/held.bpf.h"
#include "bpf/core/hosts.bpf.h"
#include "bpf/core/own_address.bpf.h"
#include "bpf/core/special.bpf.h"
#include "bpf/core/waiting.bpf.h"

SEC("?freplace/ask_whole")
int engine_ask_whole(APART_ARGUMENTS)
{
	return ask_whole_body(walk, execution, page, policy, label);
}

SEC("?freplace/ask_bytes")
int engine_ask_bytes(struct walk *walk, struct policy_page *page, __u64 policy,
		     __u64 start_and_length, __u32 rights)
{
	return ask_bytes_body(walk, page, policy, start_and_length, rights);
}

SEC("?freplace/ask_names_of")
int engine_ask_names_of(struct policy_page *page, __u64 policy, __u64 label,
			const struct net_question *question, struct answer *answer)
{
	return ask_names_of_body(page, policy, label, question, answer);
}

SEC("?freplace/report_denial")
int engine_report_denial(struct walk *walk, struct cordon_execution *execution,
			 const struct report *r)
{
	return report_denial_body(walk, execution, r);
}

SEC("?freplace/report_access")
int engine_report_access(struct walk *walk, struct cordon_execution *execution,
			 const struct report *r)
{
	return report_access_body(walk, execution, r);
}

SEC("?freplace/wait_for_answer")
int engine_wait_for_answer(struct walk *walk, struct cordon_execution *execution,
			   const struct report *r)
{
	return wait_for_answer_body(walk, execution, r);
}

SEC("?freplace/compare_code")
int engine_compare_code(struct walk *walk, struct cordon_execution *execution)
{
	return compare_code_body(walk, execution);
}

SEC("?freplace/note_code_opened")
int engine_note_code_opened(struct walk *walk, struct cordon_execution *execution, __u32 rights)
{
	return note_code_opened_body(walk, execution, rights);
}

SEC("?freplace/holds")
int engine_holds(const struct file_object *o, __u32 wanted, __u32 appending)
{
	return holds_body(o, wanted, appending);
}

SEC("?freplace/is_way_out")
int engine_is_way_out(struct walk *walk, __u64 text)
{
	return is_way_out_body(walk, text);
}

SEC("?freplace/is_among_addresses")
int engine_is_among_addresses(struct walk *walk, __u64 devices)
{
	return is_among_addresses_body(walk, devices);
}

#endif
