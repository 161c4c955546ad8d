/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Verdict logic: how the outcomes of several automaton runs combine, and when a rename or link
 * may go ahead. Plain C for both sides, see matcher.h.
 *
 * A name may lie below several anchors: the absolute run and each anchor-relative run each give
 * an outcome. Any allow grants, any deny takes away, whatever the order.
 */
#ifndef CORDON_BPF_VERDICT_H
#define CORDON_BPF_VERDICT_H

#include "bpf/abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* What all runs together say of one name. Start from VERDICT_NONE and add each run. */
struct verdict {
	__u32 allow;
	__u32 deny;
	/* over every continuation of the name, see struct cordon_final */
	__u32 may_allow;
	__u32 must_allow;
	__u32 may_deny;
};

static __always_inline void verdict_add(struct verdict *v, const struct cordon_verdict *outcome)
{
	v->allow |= outcome->allow;
	v->deny |= outcome->deny;
}

static __always_inline void verdict_add_final(struct verdict *v, const struct cordon_final *final)
{
	v->may_allow |= final->may_allow;
	v->must_allow |= final->must_allow;
	v->may_deny |= final->may_deny;
}

/* The rights of `wanted` that are missing; 0: granted. */
static __always_inline __u32 verdict_missing(const struct verdict *v, __u32 wanted)
{
	return wanted & ~(v->allow & ~v->deny);
}

/* A single object's new name must grant no right that its old name did not. */
static __always_inline int verdict_name_widens(const struct verdict *from, const struct verdict *to)
{
	__u32 before = from->allow & ~from->deny;
	__u32 after = to->allow & ~to->deny;

	return (after & ~before & CORDON_NAMED_RIGHTS) != 0;
}

/*
 * The same for everything below a directory. An upper bound of what the new place grants to any
 * name against a lower bound of what the old place grants to every name: never wrong in the
 * granting direction. Callers first compare the states themselves, which settles the common move
 * inside one subtree exactly.
 */
static __always_inline int verdict_tree_widens(const struct verdict *from, const struct verdict *to)
{
	__u32 before = from->must_allow & ~from->may_deny;

	return (to->may_allow & ~before & CORDON_NAMED_RIGHTS) != 0;
}

/*
 * The other half: what is below a directory that moves *comes into being* below its new name.
 * "Grants no more" says nothing of that. A tree that was put together where everything may be made,
 * and then named `.git`, has a `.git/hooks/pre-commit`, though a rule denies making exactly that
 * name: no call ever asked to make it, and the new place grants less than the old one, as it was
 * meant to. Whoever obeys the name outside asks neither how it came about nor what its maker may do
 * with it now.
 *
 * So a directory's move counts as making and writing whatever it could hold at its new place: every
 * continuation of the new name must be allowed to be created and to be written, and none denied.
 * Three questions that this answer leaves out, and why:
 *
 * - What does the directory really hold? That can be read neither at once nor while nobody changes
 *   it: a rename holds its parents, not what is below, and link counts and lists of children leave
 *   out what has no dentry yet. For the same reason an empty directory is no exception: another
 *   thread fills it between the look and the move. What is to be empty there can be made there.
 * - Could the old place have held such a name? For one that the execution could make at both ends,
 *   or at neither, the states are mostly one and the same, and then callers do not ask: that is
 *   every move inside a subtree with one set of rules, whatever "** /.env" (without the blank)
 *   denies anywhere in it. Where the states differ, "it cannot have been made there" would be a
 *   statement about this execution only. Earlier ones, other policies and unpacked archives make
 *   names, too.
 * - What of a move to where nothing can be made, such as below a denied name? Its own name is
 *   judged first, and refused for that.
 *
 * These are bounds over all names, not the names themselves: like the other half it errs by
 * refusing, and the error is the one that makes mv(1) and shutil.move() copy name by name, each of
 * which is then judged by itself.
 */
#define VERDICT_MAKING (CORDON_RIGHT(CORDON_CREATE) | CORDON_RIGHT(CORDON_WRITE))

/*
 * The rights to make what a tree may hold that its new place does not grant to all of it; 0: move
 * it.
 */
static __always_inline __u32 verdict_tree_makes(const struct verdict *to)
{
	return VERDICT_MAKING & ~(to->must_allow & ~to->may_deny);
}

/*
 * A symbolic link gives all that is below its target a second name each, below its own: a link
 * `.git` to a directory with `hooks/pre-commit` in it makes `.git/hooks/pre-commit` for whoever
 * goes by that name outside, though a rule denies making exactly that, and no call asked to make
 * it.
 *
 * Where everything below may be made, nothing is gained. Where something is denied, a link is
 * judged by what the rules tell apart: if below its name they say the same as below a name that
 * none of them mentions, in the same directory and at any depth, then what they deny there they
 * deny below the target as well ("** /.env", without the blank). Else it is refused, wherever it
 * leads: the target can become another one without the link's name being touched.
 *
 * The states say it: the automaton is minimal, so that two ways to the same state are the same to
 * every rule. Two states from which no rule speaks of making are the same here, too: one may be a
 * directory that can be listed.
 */

/* Bytes that nobody writes into a rule, more of them than "?" are likely to stand for. */
#define UNSPOKEN_BYTE	1
#define UNSPOKEN_LENGTH 7

/* Does a rule allow or deny making something, of all names that go on from here? */
static __always_inline int verdict_speaks_of_making(const struct cordon_final *final)
{
	return ((final->may_allow | final->may_deny) & VERDICT_MAKING) != 0;
}

#endif
