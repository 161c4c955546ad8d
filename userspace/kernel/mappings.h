/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process has mapped of BPF maps is not for its children: fork(2) would copy an entry of
 * its page tables for each of their pages, which are 10,000 (arrays of executions and both rings,
 * whose data libbpf maps twice).
 */
#ifndef CORDON_KERNEL_MAPPINGS_H
#define CORDON_KERNEL_MAPPINGS_H

/* All that there are now (MADV_DONTFORK). Without /proc children are only slower to start. */
void mappings_keep_from_children(void);

#endif
