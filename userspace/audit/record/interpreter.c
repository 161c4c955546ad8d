/* SPDX-License-Identifier: Apache-2.0 */
/* The table of programs that run code given to them, and of those that run another program. */
#include "audit/record/interpreter.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct interpreter interpreters[] = {
	{
		.names = "python pypy ipython",
		.language = "python",
		.code = "c",
		.value = "WX",
		.none = "mVh?",
		.long_value = LIST("check-hash-based-pycs"),
		.long_none = LIST("version", "help", "help-all", "help-env", "help-xoptions"),
		.code_ends_options = true,
	},
	{
		.names = "sh bash dash rbash zsh ksh mksh ash yash",
		.language = "shell",
		.syntax = SYNTAX_SHELL,
		.code = "c",
		.value = "oO",
		.long_value = LIST("rcfile", "init-file"),
		.long_none = LIST("version", "help"),
	},
	{
		.names = "fish",
		.language = "shell",
		.code = "cC",
		.value = "dDof",
		.none = "vh",
		.long_code = LIST("command", "init-command"),
		.long_value =
			LIST("debug", "debug-output", "features", "profile", "profile-startup"),
		.long_none = LIST("version", "help"),
	},
	{
		.names = "csh tcsh",
		.language = "shell",
		.code = "c",
		.long_none = LIST("version", "help"),
		.code_ends_options = true,
	},
	{
		.names = "node nodejs bun",
		.language = "javascript",
		.code = "e",
		.optional = "p",
		.value = "rC",
		.none = "vh",
		.long_code = LIST("eval", "print"),
		.long_value = LIST("require", "import", "loader", "experimental-loader",
				   "conditions", "input-type", "title", "icu-data-dir",
				   "openssl-config", "redirect-warnings", "diagnostic-dir",
				   "inspect-port", "preload", "cwd", "env-file"),
		.long_none = LIST("version", "help", "v8-options"),
		.run_word = "run",
	},
	{
		.names = "deno",
		.language = "javascript",
		.value = "Lc",
		.none = "Vh",
		.long_value = LIST("config", "import-map", "lock", "ext", "cert", "seed"),
		.long_none = LIST("version", "help"),
		.eval_word = "eval",
		.run_word = "run",
	},
	{
		.names = "perl",
		.language = "perl",
		.code = "eE",
		.value = "I",
		.rest = "CDFMVimx:=",
		.none = "vh?",
		.long_none = LIST("version", "help"),
	},
	{
		.names = "ruby jruby truffleruby",
		.language = "ruby",
		.code = "e",
		.value = "ICEr",
		.rest = "FKix:=",
		.none = "h",
		.long_value = LIST("encoding", "external-encoding", "internal-encoding", "enable",
				   "disable", "backtrace-limit", "parser"),
		.long_none = LIST("version", "copyright", "help"),
	},
	{
		.names = "php",
		.language = "php",
		.code = "rBRE",
		.value = "cdStzg",
		.file = "fF",
		.none = "vimh?",
		.long_code = LIST("run", "process-begin", "process-code", "process-end"),
		.long_value = LIST("php-ini", "define", "server", "docroot", "zend-extension", "rf",
				   "rc", "re", "rz", "ri"),
		.long_file = LIST("file", "process-file"),
		.long_none = LIST("version", "info", "modules", "help", "usage", "ini"),
	},
	{
		.names = "pwsh powershell",
		.language = "powershell",
		.syntax = SYNTAX_POWERSHELL,
	},
	{
		.names = "lua luajit",
		.code = "e",
		.value = "lj",
		.none = "v",
	},
	{
		.names = "Rscript R",
		.code = "e",
		.value = "gf",
		.file = "f",
		.long_code = LIST("expression"),
		.long_file = LIST("file"),
		.long_none = LIST("version", "help"),
	},
	{
		.names = "julia",
		.code = "eE",
		.value = "JCpLtO",
		.none = "vh",
		.long_code = LIST("eval", "print"),
		.long_value = LIST("load", "threads", "procs", "project", "sysimage"),
		.long_none = LIST("version", "help"),
	},
	{
		.names = "awk gawk mawk nawk",
		.code = "e",
		.value = "FviEl",
		.file = "f",
		.long_code = LIST("source"),
		.long_value = LIST("field-separator", "assign", "include", "load"),
		.long_file = LIST("file", "exec"),
		.long_none = LIST("version", "help"),
		.code_ends_options = true,
		.operand_is_code = true,
	},
};

static const struct wrapper wrappers[] = {
	{.name = "env", .value = "uC", .code = "S", .assignments = true},
	{.name = "nohup"},
	{.name = "setsid"},
	{.name = "nice", .value = "n"},
	{.name = "ionice", .value = "cn"},
	{.name = "chrt", .value = "TPD", .operands = 1},
	{.name = "taskset", .operands = 1},
	{.name = "timeout", .value = "sk", .operands = 1},
	{.name = "stdbuf", .value = "ioe"},
	{.name = "time", .value = "of"},
	{.name = "busybox"},
	{.name = "unbuffer"},
	{.name = "sudo", .value = "ugpCchrtTUDR", .assignments = true},
	{.name = "doas", .value = "uC"},
};

static const char *base_name(const char *program)
{
	const char *slash = strrchr(program, '/');

	if (slash)
		program = slash + 1;
	else if (program[0] == '-')
		program++;
	return program;
}

/* "", "3", "3.11", "3.11d", "-dbg": what may follow an interpreter's name. */
static bool is_version(const char *rest)
{
	rest += strspn(rest, "0123456789.");
	if (*rest == '\0' || strcmp(rest, "-dbg") == 0 || strcmp(rest, "-preview") == 0)
		return true;
	return strchr("dmt", rest[0]) && rest[1] == '\0';
}

static bool names_contain(const char *names, const char *program)
{
	while (*names) {
		size_t length = strcspn(names, " ");

		if (strncmp(names, program, length) == 0) {
			const char *rest = program + length;

			/* A letter right behind the name makes another program: "sh" + "d". */
			if (*rest == '\0' || (strchr("0123456789.-", *rest) && is_version(rest)))
				return true;
		}
		names += length;
		names += strspn(names, " ");
	}
	return false;
}

const struct interpreter *interpreter_find(const char *program)
{
	program = base_name(program);
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (names_contain(interpreters[i].names, program))
			return &interpreters[i];
	return NULL;
}

const struct wrapper *wrapper_find(const char *program)
{
	program = base_name(program);
	for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++)
		if (strcmp(wrappers[i].name, program) == 0)
			return &wrappers[i];
	return NULL;
}
