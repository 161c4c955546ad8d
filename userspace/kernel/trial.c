/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the programs to find out whether this kernel accepts them, and unloads them. */
#include "kernel/trial.h"

#include <bpf/libbpf.h>

#include "base/clock.h"
#include "enforce.skel.h"
#include "kernel/engine.h"
#include "kernel/loader.h"

DEFINE_CLEANUP(struct enforce_bpf *, enforce_bpf__destroy, skeletonp)

int trial_load(struct trial *ret_trial, struct failure *failure)
{
	_cleanup_(skeletonp) struct enforce_bpf *skeleton = NULL;
	uint64_t start = clock_nsec(CLOCK_BOOTTIME);
	struct bpf_program *program;
	struct trial trial = {};
	int r;

	r = loader_open(&skeleton, failure);
	if (r == 0)
		r = loader_load(skeleton, failure);
	if (r == 0)
		r = engine_attach(skeleton->obj, false, failure);
	if (r < 0)
		return r;
	bpf_object__for_each_program(program, skeleton->obj)
		trial.programs += bpf_program__autoload(program);
	trial.msec = (unsigned int)((clock_nsec(CLOCK_BOOTTIME) - start) / NSEC_PER_MSEC);
	*ret_trial = trial;
	return 0;
}
