/* SPDX-License-Identifier: Apache-2.0 */
/* What `cordon run` asks the daemon for, made from its options and the host. */
#include "cli/run/run_request.h"

#include <fcntl.h>
#include <string.h>

#include "audit/record/arguments.h"
#include "audit/record/trace_context.h"
#include "base/sha256.h"
#include "cli/run/accounts.h"
#include "cli/run/directory.h"
#include "cli/run/python_venv.h"

/* Longer argument lists are recorded by digest alone: a request has to fit into one packet. */
#define MAX_RECORDED_ARGUMENTS 32768

void run_request_init(struct run_request *request)
{
	*request = (struct run_request){.workdir_fd = -1, .home_fd = -1, .code = {.fd = -1}};
	for (size_t i = 0; i < RUN_MAX_BINDS; i++)
		request->bind_fds[i] = -1;
}

void run_request_release(struct run_request *request)
{
	identity_release(&request->identity);
	closep(&request->workdir_fd);
	free(request->workdir);
	closep(&request->home_fd);
	free(request->home);
	for (size_t i = 0; i < RUN_MAX_BINDS; i++) {
		closep(&request->bind_fds[i]);
		free(request->bind_paths[i]);
	}
	owner_files_release(&request->owner);
	code_release(&request->code);
	free(request->policy);
	free(request->log);
	run_request_init(request);
}

static int absolute_path(const char *path, char **ret_path)
{
	_cleanup_(freep) char *here = NULL;
	char *absolute;

	if (path[0] == '/') {
		absolute = strdup(path);
	} else {
		here = getcwd(NULL, 0);
		if (!here)
			return -errno;
		if (asprintf(&absolute, "%s/%s", here, path) < 0)
			absolute = NULL;
	}
	if (!absolute)
		return -ENOMEM;
	*ret_path = absolute;
	return 0;
}

static bool names_file(const char *policy)
{
	size_t length = strlen(policy);

	return strchr(policy, '/') || (length > 5 && strcmp(policy + length - 5, ".yaml") == 0);
}

static const char *default_policy(const char *language)
{
	static const struct {
		const char *language, *policy;
	} defaults[] = {
		{"python", "python-sandbox"},
		{"shell", "shell-sandbox"},
		{"bash", "shell-sandbox"},
		{"sh", "shell-sandbox"},
	};

	for (size_t i = 0; language && i < ARRAY_SIZE(defaults); i++)
		if (strcasecmp(defaults[i].language, language) == 0)
			return defaults[i].policy;
	return NULL;
}

/* The shipped policy that is made for a program. */
static const char *policy_for(const char *program)
{
	static const struct {
		const char *program, *policy;
	} made[] = {
		{"make", "build-c"},	  {"cc", "build-c"},	    {"gcc", "build-c"},
		{"g++", "build-c"},	  {"clang", "build-c"},	    {"cmake", "build-c"},
		{"ninja", "build-c"},	  {"meson", "build-c"},	    {"cargo", "build-rust"},
		{"rustc", "build-rust"},  {"go", "build-go"},	    {"javac", "build-java"},
		{"mvn", "build-java"},	  {"gradle", "build-java"}, {"npm", "build-node"},
		{"npx", "build-node"},	  {"yarn", "build-node"},   {"pnpm", "build-node"},
		{"node", "node-sandbox"}, {"pip", "pip-install"},   {"pip3", "pip-install"},
		{"git", "git-work"},
	};
	const char *slash = strrchr(program, '/');

	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		if (strcmp(made[i].program, slash ? slash + 1 : program) == 0)
			return made[i].policy;
	return NULL;
}

static int refuse_policy(const struct run_request *request, struct failure *failure)
{
	const struct run_options *o = request->options;
	const char *program = o->argv && o->argv[0] ? o->argv[0] : "";
	const char *near = policy_for(program);

	if (near)
		return failure_set(
			failure, EINVAL,
			"which policy? There is no default for %s; %s is made for it: add "
			"--policy %s",
			program, near, near);
	if (o->language)
		return failure_set(
			failure, EINVAL,
			"which policy? Language \"%s\" has no default, only python, shell, "
			"bash and sh; add --policy NAME (`cordon policy list`) or FILE",
			o->language);
	return failure_set(failure, EINVAL,
			   "which policy? There is no default for this command: add --policy NAME "
			   "(`cordon policy list` shows which there are) or --policy FILE");
}

static int choose_policy(struct run_request *request, struct failure *failure)
{
	const char *policy = request->options->policy;
	int r;

	if (!policy)
		policy = default_policy(request->language);
	if (!policy)
		return refuse_policy(request, failure);
	if (names_file(policy)) {
		r = absolute_path(policy, &request->policy);
		if (r < 0)
			return failure_set(failure, r, "cannot tell where %s is: %m", policy);
		return 0;
	}
	request->policy = strdup(policy);
	return request->policy ? 0 : failure_set(failure, ENOMEM, "%m");
}

static int resolve_user(struct run_request *request, struct failure *failure)
{
	_cleanup_(freep) char *own_home = NULL;
	const char *home;

	if (request->options->user) {
		int r = accounts_resolve(request->options->user, &request->identity, failure);

		if (r < 0)
			return r;
		/* Nothing to change, which only root could. */
		if (geteuid() != 0 && request->identity.uid == geteuid() &&
		    request->identity.gid == getegid())
			request->identity.change = false;
		home = request->identity.home;
	} else {
		home = own_home = accounts_home(geteuid());
	}
	/*
	 * ${home} is bound where there is one; whether anything in it is allowed, the policy says.
	 */
	if (home && home[0] == '/' && strcmp(home, "/") != 0) {
		request->home_fd = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
		request->home = request->home_fd >= 0 ? strdup(home) : NULL;
	}
	return 0;
}

static int open_directories(struct run_request *request, struct failure *failure)
{
	const struct run_options *options = request->options;
	int r;

	r = directory_open(options->workdir, "the work directory", &request->workdir_fd,
			   &request->workdir, failure);
	for (size_t i = 0; r == 0 && i < options->bind_count; i++) {
		request->bind_names[i] = options->binds[i].name;
		request->bind_count++;
		r = directory_open(options->binds[i].directory, "the bound directory",
				   &request->bind_fds[i], &request->bind_paths[i], failure);
	}
	return r;
}

/*
 * Where ${name} stands unless it was said, for policies that have it. Not below the work directory,
 * and not where a symbolic link is on the way: code could have chosen the directory. What needs one
 * there has to name it.
 */
static void add_found(struct run_request *request, const char *name, const char *directory)
{
	size_t next = request->bind_count;
	struct failure ignored = {};

	for (size_t i = 0; i < next; i++)
		if (strcmp(request->bind_names[i], name) == 0)
			return;
	if (next == RUN_MAX_BINDS || directory_open(directory, name, &request->bind_fds[next],
						    &request->bind_paths[next], &ignored) < 0)
		return;
	if (directory_is_below(request->bind_paths[next], request->workdir)) {
		closep(&request->bind_fds[next]);
		request->bind_fds[next] = -1;
		return;
	}
	request->bind_names[next] = name;
	request->bind_count++;
	request->found_count++;
}

static int find_venv(struct run_request *request, struct failure *failure)
{
	_cleanup_(freep) char *directory = NULL;
	int r = python_venv_find(request->options->argv[0], getenv("PATH"), request->workdir,
				 &directory);

	if (r < 0)
		return failure_set(failure, r, "%m");
	if (directory)
		add_found(request, "venv", directory);
	return 0;
}

/* As git finds its files: by HOME, which may be another directory than the account has. */
static int read_owner_files(struct run_request *request, struct failure *failure)
{
	bool change = request->identity.change;
	const char *home = change ? request->identity.home : getenv("HOME");
	const struct git_places places = {
		.root_fd = -1,
		.workdir = request->workdir,
		.home = home && home[0] == '/' ? home : NULL,
		.xdg = change ? NULL : getenv("XDG_CONFIG_HOME"),
		.global = change ? NULL : getenv("GIT_CONFIG_GLOBAL"),
	};
	int r = owner_files_read(&places, &request->identity, &request->owner);

	if (r < 0)
		return failure_set(failure, r, "%m");
	if (request->owner.git_directory) {
		add_found(request, "gitdir", request->owner.git_directory);
		add_found(request, "gitcommon", request->owner.git_common);
	}
	return 0;
}

static int find_code(struct run_request *request, struct failure *failure)
{
	struct code_question question = {
		.argc = request->options->argc,
		.argv = request->options->argv,
		.path = getenv("PATH"),
		.workdir = request->workdir,
		.workdir_fd = request->workdir_fd,
		.stdin_fd = STDIN_FILENO,
	};
	int r;

	r = code_identify(&question, &request->code, failure);
	if (r < 0)
		return r;
	request->language = request->options->language ? request->options->language
						       : request->code.language;
	return 0;
}

int run_request_make(const struct run_options *options, struct run_request *request,
		     struct failure *failure)
{
	int r;

	request->options = options;
	r = open_directories(request, failure);
	if (r == 0)
		r = find_venv(request, failure);
	if (r == 0)
		r = resolve_user(request, failure);
	if (r == 0)
		r = read_owner_files(request, failure);
	if (r == 0)
		r = find_code(request, failure);
	if (r == 0)
		r = choose_policy(request, failure);
	if (r == 0 && options->log) {
		r = absolute_path(options->log, &request->log);
		if (r < 0)
			failure_set(failure, r, "cannot tell where %s is: %m", options->log);
	}
	return r;
}

/* SHA-256 of the argument strings, each with its NUL. */
static int hash_arguments(const struct run_options *options, struct client_prepare *prepare)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	int r = hash ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < options->argc; i++) {
		size_t size = strlen(options->argv[i]) + 1;

		r = sha256_update(hash, options->argv[i], size);
		prepare->arguments_length += size;
	}
	return r < 0 ? r : sha256_finish(hash, prepare->arguments_digest);
}

/*
 * The arguments as they may be recorded: NULL where one carries code. NULL altogether if they are
 * too many for a request, or not text.
 */
static int recordable_arguments(const struct run_options *options, char ***ret_arguments)
{
	_cleanup_(freep) char **arguments = calloc(options->argc + 1, sizeof(*arguments));
	_cleanup_(freep) bool *carries = calloc(options->argc, sizeof(*carries));
	size_t size = 0;

	if (!arguments || !carries)
		return -ENOMEM;
	arguments_mark_code(options->argc, (const char *const *)options->argv, carries);
	for (size_t i = 0; i < options->argc; i++) {
		json_t *text;

		if (carries[i])
			continue;
		text = json_string(options->argv[i]);
		json_decref(text);
		size += strlen(options->argv[i]);
		if (!text || size > MAX_RECORDED_ARGUMENTS)
			return 0;
		arguments[i] = options->argv[i];
	}
	*ret_arguments = TAKE_PTR(arguments);
	return 0;
}

int run_request_send(const struct run_request *request, int socket,
		     struct client_prepared *ret_prepared, char **ret_message,
		     struct failure *failure)
{
	const struct run_options *options = request->options;
	const char *traceparent = getenv("TRACEPARENT"), *baggage = getenv("BAGGAGE");
	char conversation[CONVERSATION_SIZE] = "";
	struct trace_context context;
	_cleanup_(freep) char **arguments = NULL;
	struct client_prepare ask = {
		.policy = request->policy,
		.workdir = request->workdir,
		.workdir_fd = request->workdir_fd,
		.home_fd = request->home_fd,
		.bind_names = request->bind_names,
		.bind_fds = request->bind_fds,
		.bind_count = request->bind_count,
		.found_count = request->found_count,
		.session = options->session,
		.agent = options->agent,
		.executor = options->executor,
		.language = request->language,
		.limits = options->limits,
		.observe = options->observe,
		.log = request->log,
		.program = options->argv[0],
		.argument_count = options->argc,
		.code = &request->code.audit,
		.code_fd = request->code.fd,
		.uid = request->identity.change ? request->identity.uid : geteuid(),
		.gid = request->identity.change ? request->identity.gid : getegid(),
		.indirections = request->owner.indirections.texts,
		.unresolved = request->owner.indirections.unresolved,
	};
	int r;

	/* What is none is nobody's mistake here. */
	if (traceparent && trace_context_parse(traceparent, &context))
		ask.traceparent = traceparent;
	if (baggage && trace_context_conversation(baggage, conversation))
		ask.conversation = conversation;
	r = hash_arguments(options, &ask);
	if (r == 0)
		r = recordable_arguments(options, &arguments);
	if (r < 0)
		return failure_set(failure, r, "cannot record the arguments: %m");
	ask.arguments = arguments;
	return client_prepare(socket, &ask, ret_prepared, ret_message, failure);
}
