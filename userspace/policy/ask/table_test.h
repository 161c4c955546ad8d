/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of accesses and the verdicts that a policy must give, in a file next to the policy:
 *
 *  policy: python-sandbox
 *  variables: {workdir: /srv/job}
 *  tests:
 *    - {read: [/usr/lib/x.py, "${workdir}/in"], verdict: allow}
 *    - {connect: ["tcp:192.0.2.1:443"], verdict: deny}
 *    - {read: ["${workdir}/.env"], verdict: deny, rule: credentials.yaml}
 */
#ifndef CORDON_POLICY_TABLE_TEST_H
#define CORDON_POLICY_TABLE_TEST_H

#include "policy/compile/compile.h"

struct table_result {
	size_t passed, failed; /* accesses */
};

/*
 * Runs the table in `path` with the kernel's matcher. Errors of the file and unexpected verdicts
 * are added to `diagnostics` as errors. The policy is found as policy_check() finds it; a path is
 * relative to the table.
 *
 * 0: *ret_result is filled, also with failures. -EINVAL: the table or the policy is invalid.
 * -ENOMEM, or an error of reading the file.
 */
int table_test_run(const char *path, const struct policy_search *search,
		   struct diagnostics *diagnostics, struct table_result *ret_result);

#endif
