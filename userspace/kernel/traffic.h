/* SPDX-License-Identifier: Apache-2.0 */
/* Removal of traffic counts when a slot becomes free. */
#ifndef CORDON_KERNEL_TRAFFIC_H
#define CORDON_KERNEL_TRAFFIC_H

#include <stdint.h>

struct enforcement;

/* Only for a free slot, for which nothing is counted any more. */
void traffic_forget(struct enforcement *e, uint32_t slot);

#endif
