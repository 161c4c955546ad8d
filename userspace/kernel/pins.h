/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects below ENFORCEMENT_PIN_DIRECTORY:
 *  maps/NAME      every map
 *  links/NAME     one attachment per program
 *  engine/NAME    one per LSM program and replaced function: engine.h
 *  programs/NAME  programs that are run on request
 *  meta           pinned last: without it the rest is incomplete
 */
#ifndef CORDON_KERNEL_PINS_H
#define CORDON_KERNEL_PINS_H

#include <stddef.h>

#include <stdbool.h>

#include "base/failure.h"

#define ENFORCEMENT_PIN_DIRECTORY "/sys/fs/bpf/cordon"

#define PIN_MAPS     ENFORCEMENT_PIN_DIRECTORY "/maps"
#define PIN_LINKS    ENFORCEMENT_PIN_DIRECTORY "/links"
#define PIN_ENGINE   ENFORCEMENT_PIN_DIRECTORY "/engine"
#define PIN_PROGRAMS ENFORCEMENT_PIN_DIRECTORY "/programs"
/* Pins before they are renamed over others. */
#define PIN_STAGING ENFORCEMENT_PIN_DIRECTORY "/staging"
#define PIN_META    ENFORCEMENT_PIN_DIRECTORY "/meta"

#define PIN_PATH_SIZE 256

/* "DIRECTORY/NAME". */
void pin_path(char path[PIN_PATH_SIZE], const char *directory, const char *name);

/* Creates the directories, for root only. bpffs must be mounted. */
int pins_prepare(struct failure *failure);

/* Returns a descriptor of the object pinned there, or -errno. */
int pin_get(const char *directory, const char *name);

/*
 * Pins at a temporary name, then renames it over the present pin. The name thus always refers to
 * one of the two, even if the caller is killed. Returns 0, or -errno of bpf(2), unlink(2) or
 * rename(2).
 */
int pin_replace(int fd, const char *directory, const char *name);

/* False if another map, or a link of another program, is pinned under one of the names. */
bool pins_are_what_they_are_called(void);

/* Is a link pinned under this name? */
bool pin_has_link(const char *name);

/* The id of the link pinned under this name, or 0. */
unsigned int pin_link_id(const char *name);

/* Waits until the link is freed. Returns 0, or -ETIMEDOUT if another process holds it. */
int pin_wait_until_gone(unsigned int id);

/* Removes each pin for which `is_own` returns false; links one at a time. */
int pins_remove_others(const char *directory, bool (*is_own)(const char *name, void *context),
		       void *context, struct failure *failure);

int pins_clear_staging(struct failure *failure);

/*
 * Removes the links one at a time, and waits until each is freed, because concurrent detaching is
 * not safe on every kernel. Then removes the engine, then the rest. Missing pins are no error.
 */
int pins_remove(struct failure *failure);

#endif
