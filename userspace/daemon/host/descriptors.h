/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that an execution begins with and that its policy does not grant. */
#ifndef CORDON_DAEMON_DESCRIPTORS_H
#define CORDON_DAEMON_DESCRIPTORS_H

#include <stdbool.h>

#include "kernel/enforcement.h"

struct descriptor_check {
	char **outside; /* "5: /etc/shadow (read)", NULL-terminated; the caller's to free */
	bool refused;	/* one of them is no standard stream */
	bool internet;	/* one is a socket to the outside */
	bool ring;	/* one of them is an io_uring */
};

/*
 * Looks at what the labelled process behind `pidfd` keeps over its exec. Granted are files by their
 * names and rights, pipes, and event descriptors; never sockets, and nothing that stands for a part
 * of the kernel (rings, BPF, namespaces). -ENOMEM; -errno of the iterator.
 */
int descriptors_check(struct enforcement *e, int pidfd, struct descriptor_check *ret_check);

/*
 * The text for one record, or NULL where it is granted or there is no memory (*ret_r says which).
 */
char *descriptor_text(const struct cordon_descriptor_record *record, const char *name, int *ret_r);

#endif
