/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Verdict logic: how the outcomes of several automaton runs combine, and which moves and links may
 * widen access. Plain C for both sides, see matcher.h.
 *
 * A name may be below several bound directories. The run from the root and the run below each bound
 * directory all give an outcome. A right is granted if some run allows it and no run denies it. The
 * deny rules of one included fragment can have exceptions, which take them back for the names that
 * they list, and no others.
 *
 * Access must not widen by a move or a link. Four invariants ensure this, cited by number
 * elsewhere:
 *
 * [M1] An object's new name grants no right that its old name did not: verdict_name_widens().
 * [M2] The same holds for every name below a moved directory: verdict_tree_widens().
 * [M3] Every name that may exist below the directory's new name may be created and written
 *     there: verdict_tree_makes().
 * [M4] Every name that may exist below a symbolic link's name may be created and written there,
 *     or the rules treat it like the names below any other link: verdict_tree_makes(),
 *     verdict_speaks_of_making().
 */
#ifndef CORDON_BPF_VERDICT_H
#define CORDON_BPF_VERDICT_H

#include "bpf/abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* Combined outcome of all runs on one name. Start from zero and add each run. */
struct verdict {
	__u32 allow;
	__u32 deny;
	/* over all names that continue from here, see struct cordon_final */
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

/*
 * The denied rights, except rights that an exception takes back. An exception of any run counts for
 * the name, and so does a final deny of any run.
 */
static __always_inline __u32 verdict_denied(const struct verdict *v)
{
	return v->deny & ~((v->allow & ~v->deny) >> CORDON_EXCEPT_SHIFT) & CORDON_ALL_RIGHTS;
}

static __always_inline __u32 verdict_granted(const struct verdict *v)
{
	return v->allow & ~verdict_denied(v) & CORDON_ALL_RIGHTS;
}

/* The rights of `wanted` that are missing; 0: granted. */
static __always_inline __u32 verdict_missing(const struct verdict *v, __u32 wanted)
{
	return wanted & ~verdict_granted(v);
}

/* [M1] for a single object. */
static __always_inline int verdict_name_widens(const struct verdict *from, const struct verdict *to)
{
	return (verdict_granted(to) & ~verdict_granted(from) & CORDON_NAMED_RIGHTS) != 0;
}

/*
 * [M2] for all names below a directory. Compares the rights that the new place grants to at least
 * one name (an upper bound) with the rights that the old place grants to every name (a lower
 * bound). It may deny a move that would be safe, but never allows an unsafe one. Callers first
 * compare the automaton's states: they are equal for the common move inside one subtree.
 */
static __always_inline int verdict_tree_widens(const struct verdict *from, const struct verdict *to)
{
	__u32 before = from->must_allow & ~from->may_deny;

	return (to->may_allow & ~before & CORDON_NAMED_RIGHTS) != 0;
}

/*
 * [M3] A move creates the names below the directory's new name. [M1] and [M2] do not cover this.
 * Example: a tree is built where everything may be created, and then renamed to `.git`. It now has
 * a `.git/hooks/pre-commit`, although a rule denies creating that name. No system call asked to
 * create the name, and the new place grants less than the old one, as the rule intends. A program
 * outside that runs the hook checks neither its origin nor the rights of its creator.
 *
 * A directory's move therefore requires the rights to create and write every name that could exist
 * below the new name. The check does not consider:
 *
 * - The names that the directory really contains. They cannot be read atomically: a rename locks
 *  the parents, not the contents, and files without a dentry are not listed. An empty directory
 *  is no exception, because another thread can fill it before the move. An empty directory can
 *  be created at the new place instead.
 * - Whether the old place allowed the same name. If the execution may create it at both places
 *  or at neither, the states are mostly equal, and callers skip this check. That covers every
 *  move inside a subtree with one set of rules, also with a deny rule for "** /.env" (without
 *  the blank). If the states differ, this execution's rights at the old place prove nothing:
 *  earlier executions, other policies and unpacked archives create names, too.
 * - A move to a place where nothing may be created, such as below a denied name. The new name
 *  itself is checked first, and denied.
 *
 * The bounds cover all names, not only existing ones, so some safe moves are denied. The errno then
 * makes mv(1) and shutil.move() copy the files, and each copied name is checked.
 */
#define VERDICT_MAKING (CORDON_RIGHT(CORDON_CREATE) | CORDON_RIGHT(CORDON_WRITE))

/*
 * [M3] Returns the rights to create and write that the new place does not grant to every name below
 * it; 0: the tree may move.
 */
static __always_inline __u32 verdict_tree_makes(const struct verdict *to)
{
	return VERDICT_MAKING & ~(to->must_allow & ~to->may_deny);
}

/*
 * [M4] A symbolic link gives every name below its target a second name, below the link's own. For
 * example, a link `.git` to a directory with `hooks/pre-commit` creates `.git/hooks/pre-commit` for
 * programs outside, although a rule denies creating that name.
 *
 * If everything may be created below the link, nothing is gained. If something is denied there, the
 * link's name is compared with a name in the same directory that no rule mentions, at any depth. If
 * the rules treat names below both alike, they also deny the same names below the target ("**
 * /.env", without the blank). Otherwise the link is denied, whatever its target: the target can be
 * replaced later without touching the link.
 *
 * The automaton's states decide this. The automaton is minimal, so that two names that lead to one
 * state are the same for every rule. Two states from which no rule covers creation also count as
 * equal: one may be a directory that can be listed.
 */

/* A byte that no rule contains, and more of them than a rule is likely to have "?" in a row. */
#define UNSPOKEN_BYTE	1
#define UNSPOKEN_LENGTH 7

/* Does a rule allow or deny creating or writing any name that continues from here? */
static __always_inline int verdict_speaks_of_making(const struct cordon_final *final)
{
	return ((final->may_allow | final->may_deny) & VERDICT_MAKING) != 0;
}

#endif
