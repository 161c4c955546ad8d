/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Beginning and end of credentials, for the record of which are an execution's own. */
#ifndef CORDON_BPF_HOOK_CREDENTIALS_BPF_H
#define CORDON_BPF_HOOK_CREDENTIALS_BPF_H

#include "bpf/core/credentials.bpf.h"

/*
 * Copies of what the kernel acts with are the kernel's, too: overlayfs makes a file's owner out of
 * its mounter (ovl_create_or_link()). Those under which the task was labelled are recorded with the
 * first copy, before the task can put another one in their place.
 */
SEC("lsm/cred_prepare")
int BPF_PROG(cordon_cred_prepare, struct cred *new, const struct cred *old, gfp_t gfp, int ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct subject s;

	if (ret || !subject_label(task, &s) || !tells_end(new))
		return ret;
	if (old != read_task(task)->real_cred && !is_on_record(old))
		return 0;
	if (record_credentials(old, &s.label))
		return -ENOMEM;
	return record_credentials(new, &s.label);
}

/* Runs in softirq as well, under an unrelated current. */
SEC("lsm/cred_free")
int BPF_PROG(cordon_cred_free, struct cred *cred)
{
	forget_credentials(cred);
	return 0;
}

#endif
