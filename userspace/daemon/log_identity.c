/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers what the host says of itself and what fleet.yaml says of it. */
#include "daemon/log_identity.h"

#include <errno.h>

#include "config/fleet.h"

int log_identity_of(const char *fleet, char text[IDENTITY_TEXT_MAX], char **ret_trouble)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	_cleanup_(config_fleet_freep) struct config_fleet *settings = NULL;
	_cleanup_(freep) char *trouble = NULL;
	struct identity identity;
	int r = diagnostics ? 0 : -ENOMEM;

	if (r == 0 && fleet)
		r = config_fleet_load(fleet, diagnostics, &settings);
	if (r == -ENOMEM)
		return r;
	if (r < 0 && r != -ENOENT) {
		trouble = diagnostics_format(diagnostics, 0);
		if (!trouble)
			return -ENOMEM;
	}
	identity_of_host(&identity);
	identity.version = CORDON_VERSION;
	identity.tenant = settings ? config_fleet_tenant(settings) : NULL;
	identity.labels = settings ? config_fleet_labels(settings) : NULL;
	r = identity_format(&identity, text);
	if (r == 0)
		*ret_trouble = TAKE_PTR(trouble);
	return r;
}
