/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the head of an execution's description: program, policy, result. */
#ifndef CORDON_INSIGHT_HEADER_H
#define CORDON_INSIGHT_HEADER_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "insight/text/style.h"

void header_write(FILE *out, const struct style *style, json_t *const *records, size_t count);

#endif
