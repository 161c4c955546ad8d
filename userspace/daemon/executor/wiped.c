/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the variables that the kernel has overwritten in an adopted execution. */
#include "daemon/executor/wiped.h"

#include <string.h>

#include "base/listed.h"

static int append(char ***list, const char *name, size_t length)
{
	size_t count = list_length(*list);
	char **grown = reallocarray(*list, count + 2, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[count] = strndup(name, length);
	grown[count + 1] = NULL;
	return grown[count] ? 0 : -ENOMEM;
}

void wiped_take(struct execution *e, const struct cordon_event *event, size_t size)
{
	const struct cordon_adopt_event *told = (const void *)event;
	const char *at = (const char *)told->data;
	size_t left;

	/* Once in a life. */
	if (e->wiped || size < sizeof(*told) || size - sizeof(*told) < told->program_length)
		return;
	for (left = told->program_length; left > 0;) {
		size_t length = strnlen(at, left);

		if (length == left || (length > 0 && append(&e->wiped, at, length) < 0))
			return;
		at += length + 1;
		left -= length + 1;
	}
	(void)wiped_add(e);
}

int wiped_add(struct execution *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && e->wiped && e->wiped[i]; i++)
		r = append(&e->record.environment_removed, e->wiped[i], strlen(e->wiped[i]));
	return r;
}

void wiped_count(struct execution *e)
{
	size_t named = list_length(e->wiped);

	e->record.environment_unnamed = e->view->variables > named ? e->view->variables - named : 0;
}
