# SPDX-License-Identifier: Apache-2.0
# bash completion for cordon

_cordon()
{
	local cur prev command= i
	local commands="run events show why could report ps top approve approvals kill adopt status doctor policy config log daemon disable help"
	local -A options=(
		[run]="--policy --workdir --bind --user --observe --timeout --memory --pids --cpu
			--cpu-time --address-space --file-size --open-files --session --agent --executor
			--language --log --report --help"
		[events]="--follow --lines --output --execution --log --help"
		[show]="--json --log --help"
		[why]="--json --log --help"
		[could]="--json --log --help"
		[report]="--output --session --since --until --key-file --log --help"
		[ps]="--json --help"
		[approve]="--policy --reason --expires --json --help"
		[approvals]="--reason --json --help"
		[top]="--interval --json --help"
		[kill]="--json --help"
		[adopt]="--executor --json --help"
		[status]="--json --help"
		[doctor]="--json --help"
		[policy]="--json --help"
		[log-verify]="--json --key --key-file --log --help"
		[log-setup-keys]="--log --help"
		[log-renew-keys]="--log --help"
		[policy-explain]="--workdir --tmp --home --bind --record --log --json --help"
		[policy-learn]="--output --name --baseline --include-credentials --since --log --json --help"
		[policy-try]="--since --log --json --help"
		[policy-apply]="--execution --all-of --session --allow-wider --json --help"
		[log-query]="--since --until --execution --session --agent --policy --operation --action
			--verdict --path --address --text --lines --no-index --json --log --help"
		[log-export]="--format --since --until --execution --session --agent --policy --operation --action
			--verdict --path --address --text --lines --no-index --log --help"
		[log-index]="--rebuild --check --json --log --help"
		[daemon]="--log --keep-segments --keep-size --keep-days --when-full --log-user --policies --config
			--require-approval --state --pid-file --idle --embedded --help"
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
	--policy | --report | --baseline)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
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
		mapfile -t COMPREPLY < <(compgen -W "check show explain test diff learn try apply ${options[policy]}" -- "$cur")
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
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi
		;;
	esac
}

complete -F _cordon cordon
