/* SPDX-License-Identifier: Apache-2.0 */
/* Does this kernel take the programs? For `cordon doctor`: nothing else answers that. */
#ifndef CORDON_KERNEL_TRIAL_H
#define CORDON_KERNEL_TRIAL_H

#include "base/failure.h"

struct trial {
	unsigned int programs;
	unsigned int msec; /* that loading them took */
};

/*
 * Loads every program that belongs on this kernel, attaches none, and lets go of them. -errno, with
 * the program and the kernel's reason in `failure`, in the words of a start that fails.
 */
int trial_load(struct trial *ret_trial, struct failure *failure);

#endif
