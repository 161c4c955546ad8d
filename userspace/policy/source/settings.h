/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a policy's settings besides rules: each setting has a name, a value as text, and a
 * comparison of values that determines whether the other value allows more.
 */
#ifndef CORDON_POLICY_SETTINGS_H
#define CORDON_POLICY_SETTINGS_H

#include "policy/core/compiled.h"

#define SETTING_TEXT 4096

/* For example "limits.memory". NULL: there is no setting with this number. */
const char *setting_name(size_t number);

/* Formats the value, truncated if it does not fit. False: there is no setting with this number. */
bool setting_describe(const struct compiled_policy *p, size_t number, char text[SETTING_TEXT]);

enum setting_change {
	SETTING_EQUAL = 0,
	SETTING_NARROWER = 1,
	SETTING_WIDER = 2,
	SETTING_BOTH = 3, /* neither contains the other */
};

/* Compares the setting: wider if `b` allows more than `a`. */
enum setting_change setting_compare(const struct compiled_policy *a,
				    const struct compiled_policy *b, size_t number);

#endif
