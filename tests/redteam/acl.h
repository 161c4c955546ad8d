/* SPDX-License-Identifier: Apache-2.0 */
/* Access control lists. */
#ifndef CORDON_TESTS_REDTEAM_ACL_H
#define CORDON_TESTS_REDTEAM_ACL_H

#include <linux/posix_acl_xattr.h>
#include <linux/posix_acl.h>
#include <sys/xattr.h>

#include "tests/redteam/attack.h"

/* Owner, one named user, group, mask, others: all may do everything. */
static inline int set_list(const char *path)
{
	struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entries[5];
	} list = {
		.header.a_version = POSIX_ACL_XATTR_VERSION,
		.entries = {{ACL_USER_OBJ, 7, ACL_UNDEFINED_ID},
			    {ACL_USER, 7, 12345},
			    {ACL_GROUP_OBJ, 7, ACL_UNDEFINED_ID},
			    {ACL_MASK, 7, ACL_UNDEFINED_ID},
			    {ACL_OTHER, 7, ACL_UNDEFINED_ID}},
	};

	return outcome(setxattr(path, "system.posix_acl_access", &list, sizeof(list), 0));
}

#endif
