/* SPDX-License-Identifier: Apache-2.0 */
/* Loading, attaching and pinning the BPF object. */
#ifndef CORDON_KERNEL_LOADER_H
#define CORDON_KERNEL_LOADER_H

#include "base/failure.h"

/*
 * Loads the object, attaches program after program and pins everything. On failure nothing is left
 * attached or pinned. -EOPNOTSUPP: the kernel lacks something; -errno of the step that failed.
 */
int loader_load_and_pin(struct failure *failure);

/* Number of links that this kernel's complete enforcement has. -ENOENT: no kernel BTF. */
int loader_expected_links(void);

#endif
