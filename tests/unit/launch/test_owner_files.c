/* SPDX-License-Identifier: Apache-2.0 */
/* What a user's files say about a work directory. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "launch/owner_files.h"

struct world {
	char top[64], home[80], workdir[96];
};

static void run(const struct world *w, const char *script)
{
	char command[8192];

	snprintf(command, sizeof(command), "set -e; H=%s; W=%s; cd $W; %s", w->home, w->workdir,
		 script);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	snprintf(w->top, sizeof(w->top), "/tmp/cordon-owner-XXXXXX");
	assert_non_null(mkdtemp(w->top));
	snprintf(w->home, sizeof(w->home), "%s/home", w->top);
	snprintf(w->workdir, sizeof(w->workdir), "%s/p", w->home);
	assert_int_equal(mkdir(w->home, 0700), 0);
	assert_int_equal(mkdir(w->workdir, 0700), 0);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", w->top);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	free(w);
	return 0;
}

/* The same by way of another root directory's descriptor, as for an adopted process. */
static void assert_same_below_root(const struct git_places *places, const struct owner_files *files)
{
	const struct launch_identity myself = {};
	struct git_places other = *places;
	struct owner_files found;

	other.root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(other.root_fd >= 0);
	assert_int_equal(owner_files_read(&other, &myself, &found), 0);
	assert_int_equal(found.git.count, files->git.count);
	assert_int_equal(found.indirections.count, files->indirections.count);
	for (size_t i = 0; i < INDIRECTIONS_TEXTS * found.indirections.count; i++)
		assert_string_equal(found.indirections.texts[i], files->indirections.texts[i]);
	assert_int_equal(!found.git_directory, !files->git_directory);
	owner_files_release(&found);
	close(other.root_fd);
}

static struct owner_files found_in(const struct world *w)
{
	const struct launch_identity myself = {};
	const struct git_places places = {.root_fd = -1, .workdir = w->workdir, .home = w->home};
	struct owner_files files;

	assert_int_equal(owner_files_read(&places, &myself, &files), 0);
	assert_same_below_root(&places, &files);
	return files;
}

/* "NAME -> TARGET (BY)" for each, sorted as they were found. */
static void assert_found(const struct world *w, const char *expected, const char *unresolved)
{
	struct owner_files files = found_in(w);
	char text[4096] = "", left[4096] = "";
	size_t size = 0;

	for (char **t = files.indirections.texts; t && *t; t += INDIRECTIONS_TEXTS)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s -> %s (%s)\n", t[0],
					 t[1], t[2]);
	size = 0;
	for (char **t = files.indirections.unresolved; t && *t; t++)
		size += (size_t)snprintf(left + size, sizeof(left) - size, "%s\n", *t);
	assert_string_equal(text, expected);
	assert_string_equal(left, unresolved);
	owner_files_release(&files);
}

static void assert_settings(const struct world *w, const char *expected)
{
	struct owner_files files = found_in(w);
	char text[4096] = "";
	size_t size = 0;

	for (size_t i = 0; i < files.git.count; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s=%s\n",
					 files.git.list[2 * i], files.git.list[2 * i + 1]);
	assert_string_equal(text, expected);
	owner_files_release(&files);
}

static void test_nothing(void **state)
{
	assert_found(*state, "", "");
	assert_settings(*state, "");
	run(*state,
	    "mkdir .vscode; echo {} >.vscode/tasks.json; ln -s sub link; ln -s /etc .hidden");
	assert_found(*state, "", "");
}

static void test_settings(void **state)
{
	run(*state, "printf '[user]\\nname=A\\nemail=a@b\\n[core]\\npager=x\\n"
		    "[safe]\\ndirectory=/x\\ndirectory=*\\n[init]\\ndefaultBranch=main\\n"
		    "[includeIf \"gitdir:~/p/\"]\\npath=work\\n[commit]\\ngpgsign=true\\n' "
		    ">$H/.gitconfig; printf '[user]\\nemail=w@b\\n' >$H/work");
	assert_settings(*state, "user.name=A\nuser.email=a@b\nsafe.directory=/x\n"
				"safe.directory=*\ninit.defaultBranch=main\n");
	run(*state, "git init -q .");
	assert_settings(*state, "user.name=A\nsafe.directory=/x\nsafe.directory=*\n"
				"init.defaultBranch=main\nuser.email=w@b\n");
	/* The repository's own setting stays in force, because none is handed over. */
	run(*state, "git config user.name R; git config safe.directory /y");
	assert_settings(*state, "safe.directory=/x\nsafe.directory=*\ninit.defaultBranch=main\n"
				"user.email=w@b\n");
	/* No data: a line of another variable, say. */
	run(*state, "printf '[user]\\nname=\"A\\\\nB\"\\n' >$H/.gitconfig; git config --unset "
		    "user.name");
	assert_settings(*state, "");
}

static void test_links(void **state)
{
	run(*state, "mkdir tools cfg real sub; ln -s tools/envrc .envrc; ln -s cfg .vscode; "
		    "ln -s real/x cfg/tasks.json; ln -s real way; ln -s ../way/y sub/.npmrc; "
		    "ln -s p/tools/bashrc $H/.bashrc; ln -s p $H/.whole; mkdir $H/.ssh; "
		    "ln -s ../p/key $H/.ssh/id_rsa; ln -s . .self; ln -s .. .up; "
		    "mkdir -p dot/fish; ln -s p/dot $H/.config");
	assert_found(*state,
		     "${home}/.bashrc -> tools/bashrc (symbolic link)\n"
		     "${home}/.config -> dot (symbolic link)\n"
		     "${home}/.config/fish -> dot/fish (symbolic link)\n"
		     "${home}/.ssh/id_rsa -> key (symbolic link)\n"
		     "${workdir}/.envrc -> tools/envrc (symbolic link)\n"
		     "${workdir}/.vscode -> cfg (symbolic link)\n"
		     "${workdir}/.vscode/tasks.json -> cfg/real/x (symbolic link)\n"
		     "${workdir}/.vscode/tasks.json -> cfg/tasks.json/. (symbolic link)\n"
		     "${workdir}/sub/.npmrc -> real/y (symbolic link)\n"
		     "${workdir}/sub/.npmrc -> way/. (symbolic link)\n",
		     "");
}

static void test_loop(void **state)
{
	run(*state, "ln -s .b .a; ln -s .a .b");
	assert_found(*state,
		     "${workdir}/.a -> .a/. (symbolic link)\n"
		     "${workdir}/.a -> .b/. (symbolic link)\n"
		     "${workdir}/.b -> .a/. (symbolic link)\n"
		     "${workdir}/.b -> .b/. (symbolic link)\n",
		     "${workdir}/.a: where it leads cannot be found out\n"
		     "${workdir}/.b: where it leads cannot be found out\n");
}

static void test_git(void **state)
{
	run(*state,
	    "git init -q .; mkdir -p s/hooks tools; echo >tools/f.sh; echo >tools/g.sh; "
	    "printf '[core]\\nhooksPath = s/hooks\\nfsmonitor = sh ./tools/f.sh\\nsshCommand = "
	    "ssh -i x/y\\n[include]\\npath = ../tools/cfg\\n[alias]\\nx = !tools/f.sh\\n' "
	    ">>.git/config; printf '[filter \"x\"]\\nclean = \"tools/g.sh %%f\"\\n"
	    "[core]\\nexcludesFile = ~/p/ignored\\n' >tools/cfg; rm -f .git/hooks/*; "
	    "ln -s ../../tools/h .git/hooks/pre-push");
	assert_found(*state,
		     "${workdir}/.git/config -> tools/cfg (include.path in .git/config)\n"
		     "${workdir}/.git/config -> tools/f.sh (core.fsmonitor in .git/config)\n"
		     "${workdir}/.git/config -> tools/g.sh (filter.x.clean in .git/../tools/cfg)\n"
		     "${workdir}/.git/hooks -> s/hooks (core.hooksPath in .git/config)\n"
		     "${workdir}/.git/hooks/pre-push -> tools/h (symbolic link)\n"
		     "${workdir}/.git/info/exclude -> ignored (core.excludesfile in "
		     ".git/../tools/cfg)\n",
		     "");
	/* A file in place of the directory; and git's own error. */
	run(*state, "rm -rf tools/cfg; printf '[core]\\nrepositoryformatversion = 0\\n' "
		    ">.git/config; mv .git meta; echo 'gitdir: meta' >.git; rm -rf meta/hooks "
		    "meta/info; echo '[' >>meta/config");
	assert_found(*state,
		     "${workdir}/.git/branches -> meta/branches (gitdir in .git)\n"
		     "${workdir}/.git/commondir -> meta/commondir (gitdir in .git)\n"
		     "${workdir}/.git/config -> meta/config (gitdir in .git)\n"
		     "${workdir}/.git/config.worktree -> meta/config.worktree (gitdir in .git)\n"
		     "${workdir}/.git/gitdir -> meta/gitdir (gitdir in .git)\n"
		     "${workdir}/.git/hooks -> meta/hooks (gitdir in .git)\n"
		     "${workdir}/.git/info -> meta/info (gitdir in .git)\n"
		     "${workdir}/.git/remotes -> meta/remotes (gitdir in .git)\n",
		     "${workdir}/.git/config: git's configuration cannot be read to its end\n");
}

/* A user's hooks for all repositories, by a relative path. */
static void test_global(void **state)
{
	run(*state, "git init -q .; rm -rf .git/hooks; printf '[core]\\nhooksPath = .h\\n' "
		    ">$H/.gitconfig");
	{
		const struct world *w = *state;
		char expected[256];

		snprintf(expected, sizeof(expected),
			 "${workdir}/.git/hooks -> .h (core.hooksPath in %s/.gitconfig)\n",
			 w->home);
		assert_found(w, expected, "");
	}
}

static void test_hostile(void **state)
{
	run(*state, "mkfifo .fifo; ln -s .fifo .envrc; ln -s \"$(printf 'a\\nb')\" .npmrc; "
		    "ln -s \"$(printf '\\377')\" .bashrc; mkdir .git; mkfifo .git/config; "
		    "ln -s 'x*{[]}\"\\' .profile");
	assert_found(*state,
		     "${workdir}/.envrc -> .fifo (symbolic link)\n"
		     "${workdir}/.profile -> x*{[]}\"\\ (symbolic link)\n",
		     "${workdir}/.bashrc: leads to a name that no rule can have\n"
		     "${workdir}/.git/config: git's configuration cannot be read to its end\n"
		     "${workdir}/.npmrc: leads to a name that no rule can have\n");
}

static void assert_worktree(const struct world *w, const char *directory, const char *common)
{
	struct owner_files files = found_in(w);
	char path[256];

	if (directory) {
		assert_non_null(files.git_directory);
		snprintf(path, sizeof(path), "%s/%s", w->home, directory);
		assert_string_equal(files.git_directory, path);
		snprintf(path, sizeof(path), "%s/%s", w->home, common);
		assert_string_equal(files.git_common, path);
	} else {
		assert_null(files.git_directory);
		assert_null(files.git_common);
	}
	owner_files_release(&files);
}

/* Only where both name each other: a file ".git" alone could name any repository. */
static void test_worktree(void **state)
{
	run(*state,
	    "cd $H; rmdir p; git init -q r; cd r; git -c user.name=a -c user.email=b commit "
	    "-q --allow-empty -m x; git worktree add -q ../p");
	assert_worktree(*state, "r/.git/worktrees/p", "r/.git");
	run(*state, "mkdir $H/o; cp .git $H/o; echo $H/o/.git >$H/r/.git/worktrees/p/gitdir");
	assert_worktree(*state, NULL, NULL);
	run(*state, "rm .git; ln -s ../o/.git .git");
	assert_worktree(*state, NULL, NULL);
	run(*state, "rm .git; git init -q .");
	assert_worktree(*state, NULL, NULL);
	/* One that the file makes up, with a common directory elsewhere. */
	run(*state,
	    "rm -rf .git; mkdir -p m/worktrees/x; echo gitdir: $W/m/worktrees/x >.git; echo "
	    "$W/.git >m/worktrees/x/gitdir; echo $H/r/.git >m/worktrees/x/commondir");
	assert_worktree(*state, NULL, NULL);
}

static void test_parcel(void **state)
{
	static const char *const bad[][3] = {
		{"x/.envrc", "a", "b"},		 {"${workdir}/x", "../a", "b"},
		{"${workdir}/x", "a/../b", "b"}, {"${workdir}/x", "/a", "b"},
		{"${workdir}/x", ".", "b"},	 {"${workdir}/x", "a//b", "b"},
		{"${workdir}/x", "a/", "b"},	 {"${workdir}/x", "a\nb", "b"},
		{"${workdir}/x", "\xff", "b"},	 {"${workdir}/x", "", "b"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *texts[] = {(char *)bad[i][0], (char *)bad[i][1], (char *)bad[i][2], NULL};

		assert_false(indirections_are_valid(texts, NULL));
	}
	assert_true(indirections_are_valid(
		(char *[]){(char *)"${home}/x", (char *)"a/b/.", (char *)"c", NULL}, NULL));
	assert_false(indirections_are_valid((char *[]){(char *)"${home}/x", NULL}, NULL));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_nothing), CASE(test_settings), CASE(test_links),
		CASE(test_loop),    CASE(test_git),	 CASE(test_global),
		CASE(test_hostile), CASE(test_parcel),	 CASE(test_worktree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
