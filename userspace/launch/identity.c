/* SPDX-License-Identifier: Apache-2.0 */
/* Releases the identity that a command runs as. */
#include "launch/identity.h"

#include <stdlib.h>

void identity_release(struct launch_identity *identity)
{
	free(identity->groups);
	free(identity->name);
	free(identity->home);
	*identity = (struct launch_identity){};
}
