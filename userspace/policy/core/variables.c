/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables and git settings with special rules in policies. */
#include "policy/core/variables.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const loading[] = {
	"LD_*",
	"GLIBC_TUNABLES",
	"GCONV_PATH",
	"LOCPATH",
	"NLSPATH",
	"PYTHON*",
	"PERL5*",
	"PERLLIB",
	"PERL_*",
	"RUBYOPT",
	"RUBYLIB",
	"NODE_OPTIONS",
	"NODE_PATH",
	"NODE_REPL_*",
	"BASH_ENV",
	"ENV",
	"BASH_FUNC_*",
	"SHELLOPTS",
	"BASHOPTS",
	"PS4",
	"IFS",
	"PROMPT_COMMAND",
	"ZDOTDIR",
	"LUA_*",
	"PHPRC",
	"PHP_INI_*",
	"JAVA_TOOL_OPTIONS",
	"_JAVA_OPTIONS",
	"JDK_JAVA_OPTIONS",
	"CLASSPATH",
	"GIT_SSH*",
	"GIT_EXTERNAL_DIFF",
	"GIT_CONFIG*",
	"GIT_EXEC_PATH",
	"GIT_ASKPASS",
	"GIT_PAGER",
	"GIT_EDITOR",
	"GIT_SEQUENCE_EDITOR",
	"GIT_TEMPLATE_DIR",
	"GIT_PROXY_COMMAND",
	"GIT_DIR",
	"R_PROFILE*",
	"R_ENVIRON*",
	"R_LIBS*",
	"JULIA_*",
	"GIT_*",
	"OPENSSL_CONF",
	"OPENSSL_MODULES",
	"SSLKEYLOGFILE",
	"PSModulePath",
	"DENO_*",
	NULL,
};

const char *const *policy_loading_variables(void)
{
	return loading;
}

bool policy_keeps_nothing(const char *pattern)
{
	size_t plain = strcspn(pattern, "*?[\\");

	if (!pattern[plain])
		return false;
	for (size_t i = 0; loading[i]; i++) {
		size_t length = strlen(loading[i]);

		if (loading[i][length - 1] == '*' && length - 1 <= plain &&
		    strncmp(loading[i], pattern, length - 1) == 0)
			return true;
	}
	return false;
}

/* In the spelling of policies. In git, sections and keys are not case-sensitive. */
static const char *const settings[] = {
	"user.name",	  "user.email",	     "author.name",    "author.email",
	"committer.name", "committer.email", "safe.directory", "init.defaultBranch",
};

const char *policy_git_setting(const char *name)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strcasecmp(settings[i], name) == 0)
			return settings[i];
	return NULL;
}

int policy_git_reference(const char *value, const char **ret_name)
{
	static const char start[] = "${git:";
	size_t skip = sizeof(start) - 1, length = strlen(value);
	char name[64];

	if (!strstr(value, start))
		return 0;
	if (strncmp(value, start, skip) != 0 || value[length - 1] != '}' ||
	    length - skip > sizeof(name))
		return -EINVAL;
	memcpy(name, value + skip, length - skip - 1);
	name[length - skip - 1] = '\0';
	*ret_name = policy_git_setting(name);
	return *ret_name ? 1 : -EINVAL;
}
