/* SPDX-License-Identifier: Apache-2.0 */
/* Marks a record that does not follow from the line before it: somebody changed one of the two. */
#include "audit/read/damage.h"

#include <errno.h>

int damage_mark(json_t *record, const char *why)
{
	json_t *cordon = json_object_get(record, "cordon");

	if (!json_is_object(cordon)) {
		cordon = json_object();
		if (json_object_set_new(record, "cordon", cordon) < 0)
			return -ENOMEM;
	}
	return json_object_set_new(cordon, "damaged", json_string(why)) < 0 ? -ENOMEM : 0;
}
