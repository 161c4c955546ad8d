/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy says besides rules, as one table: each setting with its name, its value as text,
 * and whether another value allows more.
 */
#ifndef CORDON_POLICY_SETTINGS_H
#define CORDON_POLICY_SETTINGS_H

#include "policy/core/compiled.h"

#define SETTING_TEXT 4096

/* "limits.memory". NULL: there is no setting of this number. */
const char *setting_name(size_t number);

/* Its value, shortened if it does not fit. False: there is no setting of this number. */
bool setting_describe(const struct compiled_policy *p, size_t number, char text[SETTING_TEXT]);

enum setting_change {
	SETTING_EQUAL = 0,
	SETTING_NARROWER = 1,
	SETTING_WIDER = 2,
	SETTING_BOTH = 3, /* neither contains the other */
};

/* Does `b` allow what `a` does not? */
enum setting_change setting_compare(const struct compiled_policy *a,
				    const struct compiled_policy *b, size_t number);

#endif
