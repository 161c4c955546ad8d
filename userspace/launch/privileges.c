/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the child's identity and capabilities in the parent, and applies them in the child. */
#include "launch/privileges.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

static void freecap(cap_t *sets)
{
	if (*sets)
		cap_free(*sets);
}

int privileges_prepare(const struct launch_identity *identity, uint64_t ceiling,
		       struct privileges *ret_privileges)
{
	_cleanup_(freecap) cap_t present = cap_get_proc();
	_cleanup_(freecap) cap_t sets = cap_init();
	uid_t uid = identity->change ? identity->uid : geteuid();

	if (!present || !sets)
		return -errno;
	if (uid != 0)
		ceiling = 0;
	for (cap_value_t cap = 0; cap < cap_max_bits(); cap++) {
		cap_flag_value_t have;

		if (!(ceiling >> cap & 1))
			continue;
		if (cap_get_flag(present, cap, CAP_PERMITTED, &have) < 0)
			return -errno;
		if (have == CAP_SET && (cap_set_flag(sets, CAP_PERMITTED, 1, &cap, CAP_SET) < 0 ||
					cap_set_flag(sets, CAP_EFFECTIVE, 1, &cap, CAP_SET) < 0))
			return -errno;
	}
	*ret_privileges = (struct privileges){
		.identity = identity,
		.bounding = ceiling,
		.sets = TAKE_PTR(sets),
	};
	return 0;
}

void privileges_release(struct privileges *privileges)
{
	freecap(&privileges->sets);
	privileges->sets = NULL;
}

/*
 * An exec by uid 0 fills the permitted and effective sets from the bounding set; dropping
 * capabilities from it enforces the ceiling for root. SECBIT_NOROOT would also do that, but would
 * drop the ceiling's capabilities at exec, too.
 */
int privileges_drop_bounding(const struct privileges *privileges)
{
	for (unsigned long cap = 0; cap < 64; cap++) {
		int error, present;

		if (privileges->bounding >> cap & 1 || prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		error = errno;
		present = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
		if (present < 0)
			break; /* the kernel's last capability */
		if (!present)
			continue;
		/*
		 * Without uid 0 an exec adds no capabilities, and no_new_privs prevents other
		 * gains.
		 */
		if (error == EPERM && geteuid() != 0)
			return 0;
		return -error;
	}
	return 0;
}

/*
 * Use the system calls directly: libc's functions would apply the change to all threads that libc
 * knows of, and the child has none of them.
 */
int privileges_set_identity(const struct privileges *privileges)
{
	const struct launch_identity *id = privileges->identity;

	if (!id->change)
		return 0;
	if (syscall(SYS_setgroups, id->group_count, id->groups) < 0)
		return -errno;
	if (syscall(SYS_setresgid, id->gid, id->gid, id->gid) < 0)
		return -errno;
	if (syscall(SYS_setresuid, id->uid, id->uid, id->uid) < 0)
		return -errno;
	return 0;
}

/* Verifies that the child has the new identity and cannot become root again. */
static bool identity_holds(const struct launch_identity *id)
{
	uid_t real_uid, effective_uid, saved_uid;
	gid_t real_gid, effective_gid, saved_gid;

	if (!id->change)
		return true;
	if (getresuid(&real_uid, &effective_uid, &saved_uid) < 0 ||
	    getresgid(&real_gid, &effective_gid, &saved_gid) < 0)
		return false;
	if (real_uid != id->uid || effective_uid != id->uid || saved_uid != id->uid ||
	    real_gid != id->gid || effective_gid != id->gid || saved_gid != id->gid)
		return false;
	if (id->uid != 0 && syscall(SYS_setresuid, 0, 0, 0) == 0)
		return false;
	if (id->uid != 0 && id->gid != 0 && syscall(SYS_setresgid, 0, 0, 0) == 0)
		return false;
	return true;
}

int privileges_set_capabilities(const struct privileges *privileges)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -errno;
	if (cap_set_proc(privileges->sets) < 0)
		return -errno;
	return identity_holds(privileges->identity) ? 0 : -EPERM;
}
