/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the enforcement's check of names in a kernel, with the same code, tables and maps. The test
 * provides the components of a name, instead of a path walk from a dentry.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

#include "bpf/abi.h"
#include "bpf/pure/kernel_constants.h"

#include "bpf/core/path.bpf.h"

#include "tests/bpf/sample.h"

/* The test's names are in no file system, and so have no aliases. */
static __always_inline void ask_other_names(const struct subject *s)
{
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SAMPLE_BATCH);
	__type(key, __u32);
	__type(value, struct sample_question);
} questions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk);
} scratch SEC(".maps");

static __always_inline void spell(struct walk *walk, const struct sample_question *q)
{
	walk->flags = NAME_TREE | (q->listing ? NAME_LISTING : 0);
	walk->wanted = q->wanted;
	walk->broken = 0;
	walk->depth = q->depth;
	for (__u32 i = 0; i < SAMPLE_COMPONENTS; i++) {
		if (i >= q->depth)
			break;
		component_set(walk, i, (__u64)q->bytes + q->components[i].offset,
			      q->components[i].length);
	}
}

/* Starts the runs that a path walk would have found. */
static __noinline void start(const struct subject *s, const struct sample_question *q)
{
	struct walk *walk = s->walk;

	start_runs(s);
	walk->unstable = 0;
	for (__u32 n = 0; n < CORDON_MAX_ANCHORS; n++) {
		if (q->anchor_depth[n] > SAMPLE_COMPONENTS)
			continue;
		run_add(walk, RUN_ANCHOR + n, start_state(s, CORDON_START_ANCHOR + n),
			q->anchor_depth[n]);
		if (q->anchor_depth[n] == 0)
			walk->unstable = 1;
	}
	walk->keep = 0;
	walk->next = q->depth;
}

static __noinline void judge(const struct subject *s)
{
	struct walk *walk = s->walk;

	answer_clear(&walk->answer, walk->wanted);
	bpf_loop((CORDON_MAX_COMPONENTS + 1) * NAME_RUNS * CHUNKS_PER_NAME, run_chunk, (void *)s,
		 0);
	if (walk->next > 0)
		directories_note(walk);
	bpf_loop(walk->run_count, judge_run, (void *)s, 0);
}

/*
 * The states that the directory cache would store must give the same result for the last component.
 */
static __noinline bool same_when_resumed(const struct subject *s, const struct sample_question *q)
{
	struct walk *walk = s->walk;
	const struct answer *a = &walk->answer;

	if (!walk->keep || walk->unstable)
		return true;
	walk->flags &= ~NAME_TREE;
	directory_resume(s, &walk->noted, 1);
	judge(s);
	return !walk->broken && a->verdict.allow == q->verdict.allow &&
	       a->verdict.deny == q->verdict.deny && a->rule == q->rule && a->reason == q->reason;
}

static long judge_question(__u32 index, void *context)
{
	const struct subject *s = context;
	struct sample_question *q = bpf_map_lookup_elem(&questions, &index);
	struct answer *a = &s->walk->answer;

	if (!q)
		return 1;
	spell(s->walk, q);
	start(s, q);
	judge(s);
	q->verdict = a->verdict;
	q->missing = verdict_missing(&a->verdict, q->wanted);
	q->rule = a->rule;
	q->reason = a->reason;
	q->resumed = s->walk->keep && !s->walk->unstable;
	q->broken = s->walk->broken || !same_when_resumed(s, q);
	return 0;
}

SEC("syscall")
int judge_questions(struct sample_request *request)
{
	struct subject s = {};
	__u32 first = 0;

	s.pages = bpf_map_lookup_elem(&policies, &first);
	if (!s.pages)
		return 0;
	s.policy = bpf_map_lookup_elem(s.pages, &first);
	s.walk = bpf_map_lookup_elem(&scratch, &first);
	if (!s.policy || !s.walk)
		return 0;
	request->asked = (__u32)bpf_loop(request->count, judge_question, &s, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
