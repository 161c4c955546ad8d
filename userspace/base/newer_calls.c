/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and names of system calls that libseccomp may not know yet. */
#include "base/newer_calls.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
	int number;
	const char *name;
} calls[] = {
	{451, "cachestat"},	    {452, "fchmodat2"},	       {453, "map_shadow_stack"},
	{454, "futex_wake"},	    {455, "futex_wait"},       {456, "futex_requeue"},
	{457, "statmount"},	    {458, "listmount"},	       {459, "lsm_get_self_attr"},
	{460, "lsm_set_self_attr"}, {461, "lsm_list_modules"}, {462, "mseal"},
	{463, "setxattrat"},	    {464, "getxattrat"},       {465, "listxattrat"},
	{466, "removexattrat"},	    {467, "open_tree_attr"},   {468, "file_getattr"},
	{469, "file_setattr"},	    {470, "listns"},	       {471, "rseq_slice_yield"},
	{472, "fchroot"},
};

int newer_call_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	return -1;
}

const char *newer_call_name(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].number == number)
			return calls[i].name;
	return NULL;
}
