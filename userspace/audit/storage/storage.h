/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All by which the log changes what is on disk, in one place: what a crash between any two of these
 * leaves behind must be a log that verifies. Tests put themselves between.
 */
#ifndef CORDON_AUDIT_STORAGE_H
#define CORDON_AUDIT_STORAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Each returns 0 or more, or negative errno. Over EINTR. */

/* openat(2) with O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY added. */
int storage_create(int directory_fd, const char *name, int flags, mode_t mode);
/* Appends; may write less. */
ssize_t storage_append(int fd, const void *data, size_t size);
/* Overwrites all of it. */
int storage_overwrite(int fd, const void *data, size_t size, uint64_t offset);
int storage_truncate(int fd, uint64_t size);
/* What is in the file. */
int storage_sync(int fd);
/* Which names there are. */
int storage_sync_directory(int directory_fd);
int storage_rename(int directory_fd, const char *from, const char *to);
int storage_remove(int directory_fd, const char *name);

#endif
