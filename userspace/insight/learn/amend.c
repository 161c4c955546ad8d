/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one proposal from all denials of an execution. */
#include "insight/learn/amend.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/record/names.h"
#include "base/temporary_directory.h"
#include "insight/learn/learn_state.h"
#include "insight/recording/replay.h"

/* In messages about the result. */
#define RESULT_NAME "amendment.yaml"

struct amending {
	struct learning learning;
	const struct amend_options *options;
	struct learn_options learn_options;
	struct recorded_access *accesses; /* a copy: future temporary files are marked */
	struct compiled_policy *base, *temporary;
};

static void amending_release(struct amending *a)
{
	learn_fragments_release(&a->learning);
	json_decref(a->learning.created);
	json_decref(a->learning.moves);
	json_decref(a->learning.links);
	compiled_policy_free(a->base);
	compiled_policy_free(a->temporary);
	if (a->learning.arena)
		arena_free(a->learning.arena);
}

void amendment_release(struct amendment *amendment)
{
	free(amendment->policy);
	free(amendment->text);
	json_decref(amendment->denied);
	json_decref(amendment->notes);
	*amendment = (struct amendment){0};
}

json_t *amendment_json(const struct amendment *amendment)
{
	return json_pack("{s:s?, s:s?, s:O, s:O, s:I, s:I}", "policy", amendment->policy,
			 "amendment", amendment->text, "denied", amendment->denied, "notes",
			 amendment->notes, "denials", (json_int_t)amendment->denials, "settled",
			 (json_int_t)amendment->settled);
}

/* --- which accesses are wanted -------------------------------------------------------------- */

static bool is_denial(const struct recorded_access *a)
{
	return a->outcome == ACCESS_REFUSED ||
	       (a->outcome == ACCESS_OBSERVED && a->reason != RECORDING_NO_ANSWER);
}

/* Rights that programs use together: who may have the first needs the others next. */
static uint32_t rights_together(const struct recorded_access *a)
{
	uint32_t rights = a->rights;

	if (rights & CORDON_RIGHT(CORDON_RUN))
		rights |= CORDON_RIGHT(CORDON_MAP);
	if (a->kind == ACCESS_NET && rights & CORDON_RIGHT(CORDON_NET_BIND))
		rights |= CORDON_RIGHT(CORDON_NET_LISTEN);
	if (a->kind == ACCESS_NET && rights & CORDON_RIGHT(CORDON_NET_LISTEN))
		rights |= CORDON_RIGHT(CORDON_NET_BIND) | CORDON_RIGHT(CORDON_NET_CONNECT);
	if (rights & CORDON_RIGHT(CORDON_UNIX_BIND))
		rights |= CORDON_RIGHT(CORDON_UNIX_CONNECT);
	if (a->kind == ACCESS_PATH && rights & CORDON_RIGHT(CORDON_UNIX_BIND))
		rights |= CORDON_RIGHT(CORDON_SPECIAL) | CORDON_RIGHT(CORDON_CREATE);
	if (rights & CORDON_RIGHT(CORDON_CREATE))
		rights |= CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE) |
			  CORDON_RIGHT(CORDON_DELETE);
	if (rights & CORDON_RIGHT(CORDON_WRITE))
		rights |= CORDON_RIGHT(CORDON_READ);
	return rights;
}

static enum learn_fate fate_of(const struct recorded_access *a, const struct replay_answer *answer,
			       const struct replay_answer *credentials)
{
	if (!is_denial(a) || (answer->decided && answer->allowed))
		return LEARN_SETTLED;
	if (!answer->decided || a->kind >= ACCESS_CAPABILITY)
		return LEARN_IMPOSSIBLE;
	if (answer->rule != CORDON_NO_RULE)
		return LEARN_DENIED;
	if (!credentials->allowed && credentials->rule != CORDON_NO_RULE)
		return LEARN_CREDENTIAL;
	return LEARN_WANTED;
}

int learn_denials(struct learning *l, const struct compiled_policy *credentials)
{
	for (size_t i = 0; i < l->access_count; i++) {
		const struct recorded_access *a = &l->accesses[i];
		struct replay_answer answer, secret = {.allowed = true};
		int r = replay_judge(l->amended, &l->runs[a->run], a, &answer);

		if (r == 0 && credentials)
			r = replay_judge(credentials, &l->runs[a->run], a, &secret);
		if (r < 0)
			return r;
		l->fates[i] = fate_of(a, &answer, &secret);
		l->missing[i] = rights_together(a);
	}
	return 0;
}

/* The name of a policy where files are looked for, else its file. */
static const char *name_of_policy(const struct learning *l, const struct policy_search *search)
{
	const char *file = l->runs[0].policy_file, *name = l->runs[0].policy;

	for (size_t i = 0; search->directories[i]; i++) {
		const char *found =
			arena_printf(l->arena, "%s/%s.yaml", search->directories[i], name);

		if (found && strcmp(found, file) == 0)
			return name;
	}
	return *file == '/' ? file : name;
}

static int begin(struct amending *a, const struct recording *recording,
		 const struct amend_options *options, struct diagnostics *d)
{
	struct learning *l = &a->learning;
	const struct recorded_access *accesses;
	size_t i;

	a->options = options;
	a->learn_options = (struct learn_options){.search = options->search};
	l->options = &a->learn_options;
	l->diagnostics = d;
	l->runs = recording_runs(recording, &l->run_count);
	accesses = recording_accesses(recording, &l->access_count);
	for (i = 0; i < l->access_count && !is_denial(&accesses[i]);)
		i++;
	if (i == l->access_count)
		return -ENODATA;
	l->arena = arena_new();
	if (!l->arena)
		return -ENOMEM;
	a->accesses = arena_alloc(l->arena, l->access_count * sizeof(*a->accesses));
	l->fates = arena_alloc(l->arena, l->access_count * sizeof(*l->fates));
	l->missing = arena_alloc(l->arena, l->access_count * sizeof(*l->missing));
	l->moved = arena_alloc(l->arena, l->run_count * sizeof(*l->moved));
	l->created = json_object();
	l->moves = json_object();
	l->links = json_object();
	if (!a->accesses || !l->fates || !l->missing || !l->moved || !l->created || !l->moves ||
	    !l->links)
		return -ENOMEM;
	memcpy(a->accesses, accesses, l->access_count * sizeof(*a->accesses));
	l->accesses = a->accesses;
	a->learn_options.amends = options->policy ? options->policy
						  : name_of_policy(l, options->search);
	return policy_search_fragments(l->arena, options->search, &a->learn_options.fragments);
}

/* --- the policy as it is, and with the setting ---------------------------------------------- */

static int compile(const struct learning *l, const char *more, struct compiled_policy **ret_policy)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!d || !out)
		return -ENOMEM;
	fputs("version: 1\namends: ", out);
	learn_put_scalar(out, l->options->amends);
	fprintf(out, "\n%s", more);
	if (fclose(out) != 0)
		return -ENOMEM;
	return policy_compile_text(text, size, RESULT_NAME, l->options->search, d, ret_policy);
}

static bool is_below_temporary(const struct recorded_access *a)
{
	return a->kind == ACCESS_PATH && temporary_directory(a->bytes, a->size) > 0;
}

static bool has_own_temporary(const struct compiled_policy *p)
{
	struct cordon_policy_header header;

	memcpy(&header, p->tables, sizeof(header));
	return header.flags & CORDON_POLICY_OWN_TEMPORARY;
}

/* Was the creation of a file of this name denied, too? */
static bool is_to_be_created(const struct amending *a, const struct recorded_access *access)
{
	for (size_t i = 0; i < a->learning.access_count; i++) {
		const struct recorded_access *other = &a->accesses[i];

		if (is_denial(other) && is_below_temporary(other) &&
		    other->rights & CORDON_RIGHT(CORDON_CREATE) && other->size == access->size &&
		    memcmp(other->bytes, access->bytes, access->size) == 0)
			return true;
	}
	return false;
}

/* Marks denied files in shared temporary directories: with the setting, the execution owns them. */
static bool mark_temporary(struct amending *a)
{
	bool any = false;

	for (size_t i = 0; i < a->learning.access_count; i++) {
		struct recorded_access *access = &a->accesses[i];

		if (!is_denial(access) || !is_below_temporary(access) ||
		    !is_to_be_created(a, access))
			continue;
		access->temporary = true;
		any = true;
	}
	return any;
}

/* How many denials of names that are marked does the policy allow? */
static int count_temporary(const struct amending *a, const struct compiled_policy *p,
			   size_t *ret_count)
{
	struct replay_answer answer;
	size_t count = 0;

	for (size_t i = 0; i < a->learning.access_count; i++) {
		const struct recorded_access *access = &a->accesses[i];
		int r;

		if (!is_denial(access) || !access->temporary)
			continue;
		r = replay_judge(p, &a->learning.runs[access->run], access, &answer);
		if (r < 0)
			return r;
		count += answer.decided && answer.allowed;
	}
	*ret_count = count;
	return 0;
}

/* A policy that does not compile with the setting goes without it. */
static int choose_setting(struct amending *a)
{
	size_t before = 0, after = 0;
	int r;

	a->learning.amended = a->base;
	if (has_own_temporary(a->base) || !mark_temporary(a))
		return 0;
	r = compile(&a->learning, "include: [runtime/temporary]\nprocess: {temporary: own}\n",
		    &a->temporary);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = count_temporary(a, a->base, &before);
	if (r == 0)
		r = count_temporary(a, a->temporary, &after);
	if (r < 0 || after <= before)
		return r;
	a->learning.amended = a->temporary;
	a->learning.temporary = true;
	return 0;
}

/* --- the proposal ---------------------------------------------------------------------------- */

static int count_fates(const struct amending *a, enum learn_fate fate)
{
	int count = 0;

	for (size_t i = 0; i < a->learning.access_count; i++)
		count += a->learning.fates[i] == fate && is_denial(&a->accesses[i]);
	return count;
}

/* Compiles the text, and checks every denial under it. */
static int prove(struct amending *a, struct amendment *made)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct replay_answer answer;
	int r = d ? policy_compile_text(made->text, strlen(made->text), RESULT_NAME,
					a->options->search, d, &p)
		  : -ENOMEM;

	if (r < 0)
		return r;
	made->settled = 0;
	for (size_t i = 0; r == 0 && i < a->learning.access_count; i++) {
		const struct recorded_access *access = &a->accesses[i];

		if (!is_denial(access))
			continue;
		r = replay_judge(p, &a->learning.runs[access->run], access, &answer);
		if (r < 0)
			break;
		made->settled += answer.decided && answer.allowed;
		if (a->learning.fates[i] == LEARN_WANTED && !(answer.decided && answer.allowed))
			r = json_array_append_new(made->notes,
						  json_sprintf("not settled: %s %s",
							       name_of_operation(access->operation),
							       access->text)) < 0
				    ? -ENOMEM
				    : 0;
	}
	return r;
}

static bool has_additions(const struct amending *a)
{
	return a->learning.temporary || count_fates(a, LEARN_WANTED) > 0;
}

static int write_text(struct amending *a, struct amendment *made)
{
	int r = learn_network(&a->learning);

	if (r == 0)
		r = learn_paths(&a->learning);
	if (r < 0 || !has_additions(a))
		return r;
	made->text = learn_write(&a->learning, NULL);
	return made->text ? prove(a, made) : -ENOMEM;
}

/* Rules of fragments have their files as policies include them. */
static int find_file(const struct policy_search *search, const char *file, struct stat *ret_st)
{
	if (*file == '/')
		return stat(file, ret_st) < 0 ? -errno : 0;
	for (size_t i = 0; search->directories[i]; i++) {
		_cleanup_(freep) char *path = NULL;

		if (asprintf(&path, "%s/%s", search->directories[i], file) < 0)
			return -ENOMEM;
		if (stat(path, ret_st) == 0)
			return 0;
	}
	return -ENOENT;
}

static char *owner_of(const struct policy_search *search, const char *file)
{
	struct stat st;
	const struct passwd *user;
	char *text;

	if (find_file(search, file, &st) < 0)
		return NULL;
	user = getpwuid(st.st_uid);
	if (user)
		return strdup(user->pw_name);
	return asprintf(&text, "%u", (unsigned int)st.st_uid) < 0 ? NULL : text;
}

static int add_deny(const struct amending *a, const struct recorded_access *access,
		    struct amendment *made)
{
	const struct compiled_policy *p = a->learning.amended;
	_cleanup_(freep) char *owner = NULL;
	const struct policy_rule *rule;
	struct replay_answer answer;
	int r = replay_judge(p, &a->learning.runs[access->run], access, &answer);

	if (r < 0 || answer.rule >= p->rule_count)
		return r;
	rule = &p->rules[answer.rule];
	owner = owner_of(a->options->search, rule->file);
	return json_array_append_new(made->denied,
				     json_pack("{s:s, s:s, s:I, s:s, s:i, s:s, s:s?}", "operation",
					       name_of_operation(access->operation), "object",
					       access->text, "count", (json_int_t)access->count,
					       "file", rule->file, "line", (int)rule->line, "text",
					       rule->text, "owner", owner)) < 0
		       ? -ENOMEM
		       : 0;
}

/* Settings of the policy itself, which no amending file may have. */
static const char *setting_for(const struct recorded_access *a)
{
	switch (a->operation) {
	case CORDON_OP_MOUNT:
	case CORDON_OP_CHROOT:
	case CORDON_OP_USERNS:
		return "process: {namespaces: own}, with runtime/namespaces included";
	case CORDON_OP_TRACE:
		return a->own ? "process: {trace: own}" : NULL;
	case CORDON_OP_SIGNAL:
		return "process: {signal: any}";
	default:
		return NULL;
	}
}

static int add_note(struct amendment *made, json_t *note)
{
	const char *text = json_string_value(note), *seen;
	const json_t *one;
	size_t i;

	json_array_foreach(made->notes, i, one) {
		seen = json_string_value(one);
		if (!text || (seen && strcmp(seen, text) == 0)) {
			json_decref(note);
			return 0;
		}
	}
	return json_array_append_new(made->notes, note) < 0 ? -ENOMEM : 0;
}

static int note_impossible(const struct recorded_access *a, struct amendment *made)
{
	const char *setting = setting_for(a);

	if (a->kind == ACCESS_CAPABILITY)
		return add_note(made, json_sprintf("%s: the policy itself decides, by `process: "
						   "{capabilities: [...]}`",
						   name_of_capability(a->number)));
	if (setting)
		return add_note(made, json_sprintf("%s: the policy itself decides, by `%s`",
						   name_of_operation(a->operation), setting));
	return add_note(made, json_sprintf("%s %s: no policy can allow this",
					   name_of_operation(a->operation), a->text));
}

static const char loopback_note[] =
	"a socket was denied before an address was known: the rule is for a server and its clients "
	"on this host, and reaches the host's own services";

static int add_rest(const struct amending *a, struct amendment *made)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->learning.access_count; i++) {
		const struct recorded_access *access = &a->accesses[i];

		if (a->learning.fates[i] == LEARN_DENIED)
			r = add_deny(a, access, made);
		else if (a->learning.fates[i] == LEARN_IMPOSSIBLE && is_denial(access))
			r = note_impossible(access, made);
		else if (a->learning.fates[i] == LEARN_CREDENTIAL)
			r = add_note(made,
				     json_sprintf("%s: left out, because credentials are kept "
						  "there",
						  access->text));
	}
	if (r == 0 && a->learning.loopback_guessed)
		r = add_note(made, json_string(loopback_note));
	return r;
}

/* --- another policy ------------------------------------------------------------------------- */

/* Does it allow every logged access that a policy decides? */
static int allows_all(const struct amending *a, const struct compiled_policy *p, bool *ret)
{
	struct replay_answer answer;
	bool all = true;

	for (size_t i = 0; all && i < a->learning.access_count; i++) {
		const struct recorded_access *access = &a->accesses[i];
		int r = replay_judge(p, &a->learning.runs[access->run], access, &answer);

		if (r < 0)
			return r;
		all = (answer.decided && answer.allowed) || (!answer.decided && !is_denial(access));
	}
	*ret = all;
	return 0;
}

/* May any file of the host be written? */
static bool writes_anything(const struct compiled_policy *p)
{
	static const char name[] = "/etc/\1";
	struct policy_path path = {.name = name, .size = strlen(name)};
	struct policy_answer answer;

	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		path.anchors[i] = POLICY_NO_ANCHOR;
	return policy_judge_path(p->tables, p->tables_size, &path, CORDON_RIGHT(CORDON_WRITE),
				 &answer) < 0 ||
	       answer.missing == 0;
}

/* Not the policies that are no sandbox on this host: for the log, for containers, for agents. */
static bool is_for_jobs(const char *name, const struct compiled_policy *p)
{
	size_t size = strlen(name), tail = strlen("-agent");

	return !p->observe && !writes_anything(p) &&
	       !(size > tail && strcmp(name + size - tail, "-agent") == 0);
}

static bool has_file(const struct compiled_policy *p, const char *file)
{
	for (size_t i = 0; i < p->rule_count; i++)
		if (strcmp(p->rules[i].file, file) == 0)
			return true;
	return false;
}

/* Is the file part of the policy that denied, or of a fragment that the proposal adds? */
static bool is_needed(const struct amending *a, const char *file)
{
	if (has_file(a->learning.amended, file))
		return true;
	for (const struct learn_fragment *f = a->learning.fragments; f; f = f->next)
		if (f->chosen && has_file(f->policy, file))
			return true;
	return false;
}

/* How much else a policy is for: rules of files that the job did not need. */
static size_t count_foreign(const struct amending *a, const struct compiled_policy *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->rule_count; i++)
		count += !is_needed(a, p->rules[i].file);
	return count;
}

static int find_policy(const struct amending *a, struct amendment *made)
{
	const char *const *names;
	size_t count, least = SIZE_MAX, foreign;
	int r = policy_search_list(a->learning.arena, a->options->search, &names, &count);

	for (size_t i = 0; r == 0 && i < count; i++) {
		_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
		_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
		bool all = false;

		if (!d)
			return -ENOMEM;
		if (strcmp(names[i], a->base->name) == 0 ||
		    policy_compile(names[i], a->options->search, d, &p) < 0 ||
		    !is_for_jobs(names[i], p))
			continue;
		foreign = count_foreign(a, p);
		if (foreign >= least)
			continue;
		r = allows_all(a, p, &all);
		if (r < 0 || !all)
			continue;
		least = foreign;
		free(made->policy);
		made->policy = strdup(names[i]);
		r = made->policy ? 0 : -ENOMEM;
	}
	return r;
}

/* Rules, and not only what ships: then a policy that ships may be the better choice. */
static bool needs_rules(const struct amending *a)
{
	const struct learning *l = &a->learning;

	for (size_t i = 0; i < l->access_count; i++)
		if (l->fates[i] == LEARN_DENIED || (l->fates[i] == LEARN_WANTED && l->missing[i]))
			return true;
	return false;
}

int amend_make(const struct recording *recording, const struct amend_options *options,
	       struct amendment *ret_amendment)
{
	_cleanup_(amending_release) struct amending a = {};
	_cleanup_(amendment_release) struct amendment made = {.denied = json_array(),
							      .notes = json_array()};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	int r = d && made.denied && made.notes ? begin(&a, recording, options, d) : -ENOMEM;

	if (r == 0)
		r = compile(&a.learning, "", &a.base);
	if (r == 0)
		r = choose_setting(&a);
	if (r == 0)
		r = learn_fragments(&a.learning);
	if (r == 0)
		r = write_text(&a, &made);
	if (r == 0)
		r = add_rest(&a, &made);
	if (r == 0 && needs_rules(&a))
		r = find_policy(&a, &made);
	if (r < 0)
		return r;
	for (size_t i = 0; i < a.learning.access_count; i++)
		made.denials += is_denial(&a.accesses[i]);
	*ret_amendment = made;
	made = (struct amendment){0};
	return 0;
}
