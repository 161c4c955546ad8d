/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a policy: they compile to sound tables, or are refused with a reason. */
#include <stdint.h>
#include <stdlib.h>

#include "policy/compile/compile.h"
#include "policy/ask/evaluate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	_cleanup_(freep) char *text = NULL;
	int r;

	if (!d)
		return 0;
	/* In a directory that does not exist, so that includes find nothing. */
	r = policy_compile_text((const char *)data, size, "/nonexistent/fuzz.yaml", NULL, d, &p);
	text = diagnostics_format(d, 0);
	if (!text || r == -ENOMEM)
		return 0;
	if ((r < 0) != (diagnostics_errors(d) > 0))
		abort();
	if (r == 0 && policy_tables_check(p->tables, p->tables_size) < 0)
		abort();
	return 0;
}
