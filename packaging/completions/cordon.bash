# SPDX-License-Identifier: Apache-2.0
# bash completion for cordon

# What there is on this host, a word a line: policies, ids, sessions, agents, digests.
_cordon_known()
{
	local log=()

	for ((i = 1; i + 1 < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == --log ]] && log=(--log "${COMP_WORDS[i + 1]}")
	done
	case $1 in
	policies) cordon policy list --json | grep -o '"name":"[^"]*"' ;;
	digests) cordon approvals --brief --json | grep -o '"digest":"[^"]*"' ;;
	ids) cordon log query --action execution-start --lines 20 --json "${log[@]}" | grep -o '"execution":{"id":"[^"]*"' ;;
	*) cordon log query --action execution-start --lines 200 --json "${log[@]}" | grep -o "\"${1%s}\":\"[^\"]*\"" ;;
	esac 2>/dev/null | sed 's/.*":"//; s/"$//' | sort -u
}

# How many words before this one, from the $1th on, are neither options nor the values of those with one.
_cordon_operands()
{
	local count=0

	for ((i = $1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--json | --all | --*=*) ;;
		--*) ((i++)) ;;
		*) ((count++)) ;;
		esac
	done
	echo "$count"
}

_cordon()
{
	local cur prev command= i rights="read list write create symlink delete run map connect bind listen socket host"
	local commands="run events show why could report ps top approve approvals kill propose mcp who setup adopt status wait watch doctor demo policy config log daemon disable help"
	local -A options=(
		[run]="--policy --workdir --bind --user --stdin --observe --timeout --memory --pids --cpu
			--cpu-time --address-space --file-size --open-files --io-read --io-write --session --agent --executor
			--language --log --report --help"
		[events]="--follow --lines --output --execution --after --cursor --heartbeats --utc --log --help"
		[show]="--json --utc --log --help"
		[why]="--json --utc --log --help"
		[could]="--all --json --log --help"
		[report]="--output --session --since --until --key-file --log --help"
		[ps]="--json --help"
		[approve]="--policy --reason --expires --json --help"
		[approvals]="--follow --exec --reason --brief --json --help"
		[top]="--interval --json --help"
		[kill]="--json --help"
		[propose]="--for --until --json --help"
		[mcp]="--policy --workdir --session --agent --log --help"
		[who]="--cookie --json --help"
		[setup]="--plan --yes --work --containers --config --json --help"
		[adopt]="--executor --json --help"
		[status]="--json --help"
		[wait]="--timeout --executor --help"
		[watch]="--listen --textfile --interval --socket --help"
		[doctor]="--quick --json --help"
		[demo]="--help"
		[policy]="--json --help"
		[log-verify]="--json --key --key-file --log --help"
		[log-setup-keys]="--log --help"
		[log-renew-keys]="--log --help"
		[policy-show]="--log --json --help"
		[policy-explain]="--workdir --tmp --home --bind --record --log --json --help"
		[policy-learn]="--output --name --baseline --include-credentials --since --log --json --help"
		[policy-try]="--since --log --json --help"
		[policy-propose]="--json --report --help"
		[policy-apply]="--execution --all-of --session --allow-wider --json --help"
		[log-query]="--since --until --execution --session --agent --policy --operation --action
			--verdict --path --address --text --lines --no-index --json --utc --log --help"
		[log-export]="--format --pseudonyms --follow --after --cursor --since --until --execution --session --agent --policy --operation --action
			--verdict --path --address --text --lines --no-index --log --help"
		[log-index]="--rebuild --check --json --log --help"
		[daemon]="--log --keep-segments --keep-size --keep-days --keep-unshipped --ship-state --when-full --log-user --policies --config --fleet
			--require-approval --state --heartbeat --pid-file --idle --embedded --help"
		[disable]="--force --help"
		[config]="--json --help"
	)

	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
		return
	fi
	command=${COMP_WORDS[1]}
	if ((COMP_CWORD > 2)) && [[ -n ${options[$command-${COMP_WORDS[2]}]:-} ]]; then
		command=$command-${COMP_WORDS[2]}
	fi

	if [[ $command == run ]]; then
		# The words of the command that is run complete as they would without cordon.
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--)
				((i++))
				break
				;;
			--observe | --*=*) ;;
			--*) ((i++)) ;;
			*) break ;;
			esac
		done
		if ((i <= COMP_CWORD)) && [[ ${COMP_WORDS[i - 1]} == -- || $cur != -* ]] &&
			[[ $prev != --* || $prev == -- || $prev == --observe ]]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset "$i"
			else
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			fi
			return
		fi
	fi

	case $prev in
	--workdir | --log | --policies)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		;;
	--report | --textfile | --socket)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	--policy | --baseline)
		mapfile -t COMPREPLY < <(compgen -f -W "$(_cordon_known policies)" -- "$cur")
		;;
	--all-of)
		mapfile -t COMPREPLY < <(compgen -W "$(_cordon_known policies)" -- "$cur")
		;;
	--execution)
		mapfile -t COMPREPLY < <(compgen -W "$(_cordon_known ids)" -- "$cur")
		;;
	--session | --agent)
		mapfile -t COMPREPLY < <(compgen -W "$(_cordon_known "${prev#--}s")" -- "$cur")
		;;
	--action)
		mapfile -t COMPREPLY < <(compgen -W "execution-start execution-end execution-refused process-exec process-exit
			denial would-deny open change connect resolve traffic gap policy-change approval identity seal retention segment-compressed
			agent-start agent-stop" -- "$cur")
		;;
	--for)
		mapfile -t COMPREPLY < <(compgen -W "execution session policy" -- "$cur")
		;;
	--stdin)
		mapfile -t COMPREPLY < <(compgen -W "inherit null" -- "$cur")
		;;
	--user)
		mapfile -t COMPREPLY < <(compgen -u -- "$cur")
		;;
	--output | -o)
		if [[ $command == report || $command == policy-learn ]]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -W "compact json" -- "$cur")
		fi
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W "ecs ocsf csv" -- "$cur")
		;;
	--verdict)
		mapfile -t COMPREPLY < <(compgen -W "denied would-deny allowed" -- "$cur")
		;;
	help)
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
		;;
	kill)
		mapfile -t COMPREPLY < <(compgen -W "--help $(cordon ps --json 2>/dev/null |
			grep -o '"id":"[^"]*"' | cut -d '"' -f 4)" -- "$cur")
		;;
	policy)
		mapfile -t COMPREPLY < <(compgen -W "list check show explain test diff learn try propose apply ${options[policy]}" -- "$cur")
		;;
	config)
		mapfile -t COMPREPLY < <(compgen -W "check reload ${options[config]}" -- "$cur")
		;;
	log)
		mapfile -t COMPREPLY < <(compgen -W "verify setup-keys renew-keys query index export --help" -- "$cur")
		;;
	*)
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "${options[$command]}" -- "$cur")
		elif [[ $command == could && $(_cordon_operands 2) == 1 || $command == policy-explain && $(_cordon_operands 3) == 1 ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$rights" -- "$cur")
		elif [[ $command == could && $(_cordon_operands 2) -gt 1 || $command == policy-explain && $(_cordon_operands 3) -gt 1 ]]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		elif [[ $command =~ ^(show|why|could|report|propose|policy-learn)$ ]]; then
			mapfile -t COMPREPLY < <(compgen -W "last $(_cordon_known ids)" -- "$cur")
		elif [[ $command == policy* && ${COMP_WORDS[2]} != test ]]; then
			mapfile -t COMPREPLY < <(compgen -f -W "$(_cordon_known policies)" -- "$cur")
		elif [[ $command == approve || $prev == refuse || $prev == revoke ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$(_cordon_known digests)" -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi
		;;
	esac
}

complete -F _cordon cordon
