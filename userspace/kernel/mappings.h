/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps this process's mappings of BPF maps from its children. fork(2) would copy a page table
 * entry for each of their 10,000 pages: the arrays of executions, and both rings, which libbpf maps
 * twice.
 */
#ifndef CORDON_KERNEL_MAPPINGS_H
#define CORDON_KERNEL_MAPPINGS_H

/* Marks all present mappings (MADV_DONTFORK). Without /proc, children are only slower to start. */
void mappings_keep_from_children(void);

#endif
