/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trial load of the programs, for `cordon doctor`: only a load shows whether the kernel accepts
 * them.
 */
#ifndef CORDON_KERNEL_TRIAL_H
#define CORDON_KERNEL_TRIAL_H

#include "base/failure.h"

struct trial {
	unsigned int programs;
	unsigned int msec; /* duration of the load */
};

/*
 * Loads all programs that apply to this kernel, attaches none, and unloads them. Returns 0, or
 * -errno with the program and the kernel's reason in `failure`, worded as for a failed start.
 */
int trial_load(struct trial *ret_trial, struct failure *failure);

#endif
