/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of traffic that go when their slot does. */
#ifndef CORDON_KERNEL_TRAFFIC_H
#define CORDON_KERNEL_TRAFFIC_H

#include <stdint.h>

struct enforcement;

/* Of a slot that is free: nothing is counted for it any more. */
void traffic_forget(struct enforcement *e, uint32_t slot);

#endif
