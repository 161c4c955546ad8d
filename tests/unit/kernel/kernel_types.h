// SPDX-License-Identifier: Apache-2.0
/* The types of the kernels that tests run on. Include what cmocka needs before. */
#ifndef CORDON_TESTS_KERNEL_TYPES_H
#define CORDON_TESTS_KERNEL_TYPES_H

#include <bpf/btf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static struct btf *read_types(const char *kernel)
{
	const char *top = getenv("CORDON_KERNELS");
	struct btf *types;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/btf", top ? top : "build/kernels", kernel);
	types = btf__parse(path, NULL);
	assert_non_null(types);
	return types;
}

#endif
