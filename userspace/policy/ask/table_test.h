/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of accesses and the verdicts that a policy must give, beside the policy:
 *
 *   policy: python-sandbox
 *   variables: {workdir: /srv/job}
 *   tests:
 *     - {read: [/usr/lib/x.py, "${workdir}/in"], verdict: allow}
 *     - {connect: ["tcp:192.0.2.1:443"], verdict: deny}
 *     - {read: ["${workdir}/.env"], verdict: deny, rule: credentials.yaml}
 */
#ifndef CORDON_POLICY_TABLE_TEST_H
#define CORDON_POLICY_TABLE_TEST_H

#include "policy/compile/compile.h"

struct table_result {
	size_t passed, failed; /* accesses */
};

/*
 * Runs the table in `path` with the matcher that the kernel runs. What is wrong with the file and
 * each verdict that is another than expected is an error in `diagnostics`. The policy is found as
 * policy_check() finds it; a path is relative to the table. 0: *ret_result is filled, failures
 * included; -EINVAL: the table or the policy is wrong; -ENOMEM; or as reading the file.
 */
int table_test_run(const char *path, const struct policy_search *search,
		   struct diagnostics *diagnostics, struct table_result *ret_result);

#endif
