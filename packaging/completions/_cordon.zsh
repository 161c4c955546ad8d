#compdef cordon
# SPDX-License-Identifier: Apache-2.0
# zsh completion for cordon

# What there is on this host: policies, ids, sessions, agents, digests.
_cordon_known() {
	local -a found
	case $1 in
	policies) found=(${(f)"$(cordon policy list --json | grep -o '"name":"[^"]*"')"}) ;;
	digests) found=(${(f)"$(cordon approvals --brief --json | grep -o '"digest":"[^"]*"')"}) ;;
	ids) found=(${(f)"$(cordon log query --action execution-start --lines 20 --json | grep -o '"execution":{"id":"[^"]*"')"}) ;;
	*) found=(${(f)"$(cordon log query --action execution-start --lines 200 --json | grep -o "\"${1%s}\":\"[^\"]*\"")"}) ;;
	esac 2>/dev/null
	found=(${${found##*\":\"}%\"})
	[[ $1 == ids ]] && found+=(last)
	compadd -U -- ${(uM)found:#$PREFIX*}
	[[ $1 == policies ]] && _files -g '*.yaml'
}

_cordon() {
	local -a commands=(
		'run:run a command under a policy'
		'events:what executions did and were denied, from the log'
		'show:one execution, start to end'
		'why:why something was denied, and what would allow it'
		'could:could an execution have had an access'
		'report:executions as a page to read, keep and hand on'
		'ps:the executions that are live'
		'top:the same, as it goes on'
		'approve:let a policy be used that waits for approval'
		'approvals:what waits for approval, and what was decided'
		'propose:ask for what an execution was denied'
		'mcp:serve a model the tools run, why and propose (Model Context Protocol)'
		'who:which execution a process or a connection belongs to'
		'kill:end an execution and everything that it started'
		'setup:find the installed agents, and write their entries'
		'adopt:make an executor of a process that runs'
		'status:is enforcement on, and what runs under it'
		'wait:until enforcement is on and executors'\'' entries are in force'
		'watch:the same as series, for Prometheus'
		'doctor:can this host enforce, and if not, what to do'
		'demo:show attacks on this host, without cordon and with it'
		'policy:check and look into policies'
		'config:check cordon.yaml, or have the daemon read it again'
		'log:check and search the audit log'
		'daemon:the daemon that owns enforcement and the log'
		'disable:unload enforcement and stop the daemon'
	)

	if ((CURRENT == 2)); then
		_describe command commands
		_arguments '(- *)'{-h,--help}'[list the commands]' '(- *)'{-V,--version}'[show the version]'
		return
	fi

	local command=$words[2]
	shift words
	((CURRENT--))
	case $command in
	run)
		_arguments -S \
			'--policy=[what the command may do]:policy:_cordon_known policies' \
			'--workdir=[where it runs]:directory:_files -/' \
			'*--bind=[what a name in the policy stands for]:NAME=DIR:' \
			'--user=[whom it runs as]:user:_users' \
			'--stdin=[whose standard input it has]:input:(inherit null)' \
			'--observe[report only, refuse nothing]' \
			'--timeout=[wall clock]:time:' \
			'--memory=[of all its processes]:size:' \
			'--pids=[processes and threads at a time]:count:' \
			'--cpu=[of one CPU]:percent:' \
			'--cpu-time=[CPU time of each process]:time:' \
			'--address-space=[of each process]:size:' \
			'--file-size=[of each file it writes]:size:' \
			'--open-files=[descriptors of each process]:count:' \
			'--io-read=[bytes a second from each disk]:size:' '--io-write=[bytes a second to each disk]:size:' \
			'--session=[executions that belong together]:name:' \
			'--agent=[the agent whose code this is]:name:' \
			'--executor=[what runs it for the agent]:name:' \
			'--language=[of the code]:name:' \
			'--log=[write the records there]:directory:_files -/' \
			'--report=[write what was denied as JSON]:file:_files' \
			'(- *)'{-h,--help}'[show help]' \
			'(-):command: _command_names -e' \
			'*::arguments: _normal'
		;;
	events)
		_arguments \
			{-f,--follow}'[go on as records are written]' \
			{-n,--lines=}'[the last records only]:count:' \
			{-o,--output=}'[format]:format:(compact json)' \
			'--execution=[of this execution only]:id:_cordon_known ids' '--utc[times in UTC]' \
			'--after=[behind this record]:seq:' '--cursor=[notes how far that is]:file:_files' \
			'--heartbeats[also what says each minute that the daemon is there]' \
			'--log=[the log]:directory:_files -/' \
			{-h,--help}'[show help]'
		;;
	show | why)
		_arguments '--json[its records, as JSON]' '--utc[times in UTC]' '--log=[the log]:directory:_files -/' \
			{-h,--help}'[show help]' ':id:_cordon_known ids'
		;;
	could)
		_arguments '--all[all that it could have done]' '--json[for programs]' '--log=[the log]:directory:_files -/' \
			{-h,--help}'[show help]' ':id:_cordon_known ids' \
			':right:(read list write create symlink delete run map connect bind listen socket host)' ':object:_files'
		;;
	report)
		_arguments {-o,--output=}'[write it there]:file:_files' '--session=[all of a session]:name:_cordon_known sessions' \
			{--since=,--until=}'[time]:time:' '*--key-file=[file with a verification key]:file:_files' \
			'--log=[the log]:directory:_files -/' {-h,--help}'[show help]' ':id:_cordon_known ids'
		;;
	doctor)
		_arguments '--quick[load nothing]' '--json[for programs]' {-h,--help}'[show help]'
		;;
	demo)
		_arguments {-h,--help}'[show help]'
		;;
	ps | status)
		_arguments '--json[for programs]' {-h,--help}'[show help]'
		;;
	wait)
		_arguments '--timeout=[give up after so long]:time:' '*--executor=[this entry, not all]:name:' \
			{-h,--help}'[show help]'
		;;
	watch)
		_arguments '--listen=[serve there]:address:(127.0.0.1\:9783 unix\:/run/cordon-watch/watch.sock)' \
			'--textfile=[for node_exporter]:file:_files' '--interval=[between two textfiles]:seconds:' \
			'--socket=[of the daemon]:socket:_files' {-h,--help}'[show help]'
		;;
	approve)
		_arguments '--policy=[ahead of its first use]:policy:_cordon_known policies' '--reason=[why]:text:' \
			'--expires=[after so long it waits again]:time:' '--json[the approval as JSON]' \
			{-h,--help}'[show help]' ':digest:_cordon_known digests'
		;;
	approvals)
		_arguments {-f,--follow}'[go on as more begin to wait]' '--exec=[run this for each]:command:' \
			'--reason=[why]:text:' '--brief[without the rules]' '--json[for programs]' {-h,--help}'[show help]' \
			':action:(list refuse revoke)' ':digest:_cordon_known digests'
		;;
	top)
		_arguments '--interval=[between two looks]:seconds:' '--json[once, for programs]' \
			{-h,--help}'[show help]'
		;;
	kill)
		local -a live=(${(f)"$(cordon ps --json 2>/dev/null | grep -o '"id":"[^"]*"' | cut -d '"' -f 4)"})
		_arguments '--json[for programs]' {-h,--help}'[show help]' ":id:(${live})"
		;;
	propose)
		_arguments '--for=[for how much]:scope:(execution session policy)' '--until=[after so long it ends]:time:' \
			'--json[for programs]' {-h,--help}'[show help]' ':id:_cordon_known ids'
		;;
	mcp)
		_arguments \
			'*--policy=[what commands may do]:policy:_cordon_known policies' \
			'--workdir=[where commands run]:directory:_files -/' \
			'--session=[executions that belong together]:name:_cordon_known sessions' \
			'--agent=[the agent whose code this is]:name:_cordon_known agents' \
			'--log=[the log]:directory:_files -/' {-h,--help}'[show help]'
		;;
	who)
		_arguments '--cookie=[socket of the second address]:number:' '--json[for programs]' {-h,--help}'[show help]' \
			':process, or address\:port:_pids'
		;;
	setup)
		_arguments '(--yes)--plan[change nothing]' '(--plan)--yes[write without confirmation]' \
			'--work=[directory of projects for the agents themselves]:directory:_files -/' \
			'--containers[also containers of Docker and podman]' '--config=[another file]:file:_files' \
			'--json[for programs]' {-h,--help}'[show help]'
		;;
	adopt)
		_arguments '--executor=[entry of cordon.yaml]:name:' '--json[for programs]' {-h,--help}'[show help]' ':process:_pids'
		;;
	policy)
		case $words[2] in
		explain)
			_arguments \
				{--workdir=,--tmp=,--home=}'[what the variable stands for]:directory:_files -/' \
				'*--bind=[what a variable stands for]:NAME=DIR:' \
				'--record=[the access of this record]:number:' \
				'--log=[the log]:directory:_files -/' '--json[for programs]' \
				{-h,--help}'[show help]' ':action:' ':policy:_cordon_known policies' \
				':right:(read list write create symlink delete run map connect bind listen socket host)' ':object:_files'
			return
			;;
		learn)
			_arguments \
				{-o+,--output=}'[write it there]:file:_files' '--name=[of the policy]:name:' \
				'--baseline=[compare it with this one]:policy:_cordon_known policies' \
				'--include-credentials[learn them, too]' '--since=[executions since]:time:' \
				'--log=[the log]:directory:_files -/' '--json[for programs]' \
				{-h,--help}'[show help]' '*:id:_cordon_known ids'
			return
			;;
		try)
			_arguments \
				'--since=[executions since]:time:' '--log=[the log]:directory:_files -/' \
				'--json[for programs]' {-h,--help}'[show help]' \
				'*:policy:_cordon_known policies'
			return
			;;
		propose)
			_arguments '--json[for programs]' '--report[the whole report]' {-h,--help}'[show help]' '*:report:_files'
			return
			;;
		apply)
			_arguments \
				'--execution=[this one]:id:_cordon_known ids' '--all-of=[all under this policy]:name:_cordon_known policies' \
				'--session=[all of this session]:name:_cordon_known sessions' '--allow-wider=[why it may allow more]:reason:' \
				'--json[for programs]' {-h,--help}'[show help]' \
				'*:policy:_cordon_known policies'
			return
			;;
		esac
		_arguments '--json[for programs]' '--log=[the log]:directory:_files -/' {-h,--help}'[show help]' \
			':action:(list check show explain test diff learn try propose apply)' \
			'*:policy:_cordon_known policies'
		;;
	log)
		if [[ $words[2] == (query|export) ]]; then
			_arguments \
				{--since=,--until=}'[time]:time:' \
				'--execution=[of this execution]:id:_cordon_known ids' '--session=[of this session]:name:_cordon_known sessions' \
				'--agent=[of this agent]:name:_cordon_known agents' '--policy=[under this policy]:name:_cordon_known policies' \
				'--operation=[what was tried]:operation:' '--action=[kind of record]:action:(execution-start execution-end execution-refused process-exec process-exit denial would-deny open change connect resolve traffic gap policy-change approval identity seal retention segment-compressed agent-start agent-stop)' \
				'--verdict=[how it was judged]:verdict:(denied would-deny allowed)' \
				'--path=[of a file or program]:pattern:_files' '--address=[address or network]:address:' \
				'--text=[stands in the record]:words:' '--lines=[the last ones only]:count:' \
				'--no-index[read all of the log]' '--json[the records]' '--utc[times in UTC]' '--format=[form]:form:(ecs ocsf csv)' \
				'--pseudonyms=[key of pseudonyms]:file:_files' \
				'--follow[go on as records are written]' '--after=[behind this record]:seq:' \
				'--cursor=[notes how far that is]:file:_files' \
				'--log=[the log]:directory:_files -/' {-h,--help}'[show help]' '*:action:(query export)'
			return
		elif [[ $words[2] == index ]]; then
			_arguments '--rebuild[from nothing]' '--check[look at all of it first]' \
				'--json[for programs]' '--log=[the log]:directory:_files -/' \
				{-h,--help}'[show help]' '*:action:(index)'
			return
		fi
		_arguments '--json[for programs]' '--log=[the log]:directory:_files -/' '--key=[verification key]:key:' \
			'--key-file=[file with it]:file:_files' \
			{-h,--help}'[show help]' ':action:(verify setup-keys renew-keys query index export)'
		;;
	daemon)
		_arguments '--log=[write the log there]:directory:_files -/' \
			'--keep-segments=[closed segments to keep]:number:' '--keep-size=[megabytes to keep]:number:' \
			'--keep-days=[days to keep]:number:' \
			'--keep-unshipped=[megabytes that wait for the shipper]:number:' '--ship-state=[how far it is]:file:_files' \
			'--when-full=[the log cannot be written]:what:(refuse continue)' \
			'--log-user=[who writes the log]:user:_users' '--fleet=[tenant and labels]:file:_files' \
			'*--policies=[look for policies there]:directory:_files -/' \
			'--config=[which programs start agent code]:file:_files' \
			'--require-approval[policies wait for approval]' '--state=[keep approvals there]:directory:_files -/' \
			'--heartbeat=[how often the log says that it is there]:seconds:' \
			'--pid-file=[has the process id in it]:file:_files' \
			'--idle=[leave after that long without work]:seconds:' \
			'--embedded[as cordon run starts it]' {-h,--help}'[show help]'
		;;
	config)
		_arguments '--json[for programs]' {-h,--help}'[show help]' ':action:(check reload)' ':file:_files'
		;;
	disable)
		_arguments '--force[kill what is live]' {-h,--help}'[show help]'
		;;
	esac
}

_cordon "$@"
