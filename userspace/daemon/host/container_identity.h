/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which container a process is in, as its engine keeps it: for the record, nothing depends on it.
 * Docker keeps what a container is beside the file that it mounts at /etc/hostname; podman beside
 * what its runtime was given, of which crun and runc keep the place by the container's id.
 */
#ifndef CORDON_DAEMON_CONTAINER_IDENTITY_H
#define CORDON_DAEMON_CONTAINER_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

#include "audit/record/record.h"

/*
 * What can be told; the rest is NULL. Caller releases by audit_container_release(). Files of the
 * engine are read, which may not answer: not for the daemon's loop.
 */
void container_identify(pid_t pid, struct audit_container *ret_container);

/* Is it the first of a namespace of process ids of its own, with which all of a container ends? */
bool container_is_first(pid_t pid);

/* The same of a text as of /proc/PID/status. */
bool container_status_of_first(const char *status);

/* The id in a cgroup's path, of 64 hexadecimal digits, to `ret_id`. false: there is none. */
bool container_id_of_cgroup(const char *path, char ret_id[65]);

/*
 * From what Docker (config.v2.json), or podman (containers.json, of many containers) has written
 * down. false: it does not speak of that container, `ret_container` is as it was.
 */
bool container_read_docker(const char *text, struct audit_container *container);
bool container_read_podman(const char *text, struct audit_container *container);

#endif
