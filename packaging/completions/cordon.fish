# SPDX-License-Identifier: Apache-2.0
# fish completion for cordon

# What there is on this host: policies, ids, sessions, agents, digests.
function __cordon_known
	switch $argv[1]
		case policies
			cordon policy list --json 2>/dev/null | string match -rag '"name":"([^"]*)"'
		case digests
			cordon approvals --brief --json 2>/dev/null | string match -rag '"digest":"([^"]*)"'
		case ids
			echo last
			cordon log query --action execution-start --lines 20 --json 2>/dev/null | string match -rag '"execution":\{"id":"([^"]*)"'
		case sessions agents
			set -l member (string replace -r 's$' '' $argv[1])
			cordon log query --action execution-start --lines 200 --json 2>/dev/null | string match -rag "\"$member\":\"([^\"]*)\"" | sort -u
	end
end

complete -c cordon -f
complete -c cordon -n __fish_use_subcommand -l version -s V -d 'show the version'
complete -c cordon -n __fish_use_subcommand -l help -s h -d 'list the commands'
complete -c cordon -n __fish_use_subcommand -a run -d 'run a command under a policy'
complete -c cordon -n __fish_use_subcommand -a events -d 'what executions did and were denied, from the log'
complete -c cordon -n __fish_use_subcommand -a show -d 'one execution, start to end'
complete -c cordon -n __fish_use_subcommand -a why -d 'why something was denied, and what would allow it'
complete -c cordon -n __fish_use_subcommand -a could -d 'could an execution have had an access'
complete -c cordon -n __fish_use_subcommand -a report -d 'executions as a page to read, keep and hand on'
complete -c cordon -n __fish_use_subcommand -a ps -d 'the executions that are live'
complete -c cordon -n __fish_use_subcommand -a top -d 'the same, as it goes on'
complete -c cordon -n __fish_use_subcommand -a approve -d 'let a policy be used that waits for approval'
complete -c cordon -n __fish_use_subcommand -a approvals -d 'what waits for approval, and what was decided'
complete -c cordon -n __fish_use_subcommand -a kill -d 'end an execution and everything that it started'
complete -c cordon -n __fish_use_subcommand -a propose -d 'ask for what an execution was denied'
complete -c cordon -n __fish_use_subcommand -a mcp -d 'serve a model the tools run, why and propose'
complete -c cordon -n __fish_use_subcommand -a who -d 'which execution a process or a connection belongs to'
complete -c cordon -n __fish_use_subcommand -a setup -d 'find the installed agents, and write their entries'
complete -c cordon -n __fish_use_subcommand -a adopt -d 'make an executor of a process that runs'
complete -c cordon -n __fish_use_subcommand -a status -d 'is enforcement on, and what runs under it'
complete -c cordon -n __fish_use_subcommand -a wait -d 'until enforcement is on and executors\' entries are in force'
complete -c cordon -n __fish_use_subcommand -a watch -d 'the same as series, for Prometheus'
complete -c cordon -n __fish_use_subcommand -a doctor -d 'can this host enforce, and if not, what to do'
complete -c cordon -n __fish_use_subcommand -a demo -d 'show attacks on this host, without cordon and with it'
complete -c cordon -n __fish_use_subcommand -a policy -d 'check and look into policies'
complete -c cordon -n __fish_use_subcommand -a config -d 'check cordon.yaml, or have the daemon read it again'
complete -c cordon -n __fish_use_subcommand -a log -d 'check and search the audit log'
complete -c cordon -n __fish_use_subcommand -a daemon -d 'the daemon that owns enforcement and the log'
complete -c cordon -n __fish_use_subcommand -a disable -d 'unload enforcement and stop the daemon'

complete -c cordon -n '__fish_seen_subcommand_from run' -l policy -r -a '(__cordon_known policies)' -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l workdir -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l bind -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l user -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l stdin -r -a 'inherit null'
complete -c cordon -n '__fish_seen_subcommand_from run' -l observe
complete -c cordon -n '__fish_seen_subcommand_from run' -l timeout -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l memory -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l pids -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l cpu -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l cpu-time -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l address-space -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l file-size -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l open-files -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l io-read -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l io-write -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l session -r -a '(__cordon_known sessions)'
complete -c cordon -n '__fish_seen_subcommand_from run' -l agent -r -a '(__cordon_known agents)'
complete -c cordon -n '__fish_seen_subcommand_from run' -l executor -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l language -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l report -r -F
complete -c cordon -n '__fish_seen_subcommand_from run' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from events' -l follow
complete -c cordon -n '__fish_seen_subcommand_from events' -l lines -r -F
complete -c cordon -n '__fish_seen_subcommand_from events' -l output -r -a 'compact json'
complete -c cordon -n '__fish_seen_subcommand_from events' -l after -r -F
complete -c cordon -n '__fish_seen_subcommand_from events' -l cursor -r -F
complete -c cordon -n '__fish_seen_subcommand_from events' -l execution -r -a '(__cordon_known ids)'
complete -c cordon -n '__fish_seen_subcommand_from events' -l heartbeats
complete -c cordon -n '__fish_seen_subcommand_from events' -l utc
complete -c cordon -n '__fish_seen_subcommand_from events' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from events' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from show' -l json
complete -c cordon -n '__fish_seen_subcommand_from show' -l utc
complete -c cordon -n '__fish_seen_subcommand_from show' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from show' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from why' -l json
complete -c cordon -n '__fish_seen_subcommand_from why' -l utc
complete -c cordon -n '__fish_seen_subcommand_from why' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from why' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from could' -l all
complete -c cordon -n '__fish_seen_subcommand_from could' -l json
complete -c cordon -n '__fish_seen_subcommand_from could' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from could' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from report' -l output -r -F
complete -c cordon -n '__fish_seen_subcommand_from report' -l session -r -a '(__cordon_known sessions)'
complete -c cordon -n '__fish_seen_subcommand_from report' -l since -r -F
complete -c cordon -n '__fish_seen_subcommand_from report' -l until -r -F
complete -c cordon -n '__fish_seen_subcommand_from report' -l key-file -r -F
complete -c cordon -n '__fish_seen_subcommand_from report' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from report' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from ps' -l json
complete -c cordon -n '__fish_seen_subcommand_from ps' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from approve' -l policy -r -a '(__cordon_known policies)' -F
complete -c cordon -n '__fish_seen_subcommand_from approve' -l reason -r -F
complete -c cordon -n '__fish_seen_subcommand_from approve' -l expires -r -F
complete -c cordon -n '__fish_seen_subcommand_from approve' -l json
complete -c cordon -n '__fish_seen_subcommand_from approve' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from approvals' -l follow -s f
complete -c cordon -n '__fish_seen_subcommand_from approvals' -l exec -r
complete -c cordon -n '__fish_seen_subcommand_from approvals' -l reason -r -F
complete -c cordon -n '__fish_seen_subcommand_from approvals' -l brief
complete -c cordon -n '__fish_seen_subcommand_from approvals' -l json
complete -c cordon -n '__fish_seen_subcommand_from approvals' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from top' -l interval -r -F
complete -c cordon -n '__fish_seen_subcommand_from top' -l json
complete -c cordon -n '__fish_seen_subcommand_from top' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from kill' -l json
complete -c cordon -n '__fish_seen_subcommand_from kill' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from propose' -l for -r -a 'execution session policy'
complete -c cordon -n '__fish_seen_subcommand_from propose' -l until -r
complete -c cordon -n '__fish_seen_subcommand_from propose' -l json
complete -c cordon -n '__fish_seen_subcommand_from propose' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from mcp' -l policy -r -a '(__cordon_known policies)' -F
complete -c cordon -n '__fish_seen_subcommand_from mcp' -l workdir -r -F
complete -c cordon -n '__fish_seen_subcommand_from mcp' -l session -r -a '(__cordon_known sessions)'
complete -c cordon -n '__fish_seen_subcommand_from mcp' -l agent -r -a '(__cordon_known agents)'
complete -c cordon -n '__fish_seen_subcommand_from mcp' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from mcp' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from setup' -l plan
complete -c cordon -n '__fish_seen_subcommand_from setup' -l yes
complete -c cordon -n '__fish_seen_subcommand_from setup' -l work -r -F
complete -c cordon -n '__fish_seen_subcommand_from setup' -l containers
complete -c cordon -n '__fish_seen_subcommand_from setup' -l config -r -F
complete -c cordon -n '__fish_seen_subcommand_from setup' -l json
complete -c cordon -n '__fish_seen_subcommand_from setup' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from adopt' -l executor -r -F
complete -c cordon -n '__fish_seen_subcommand_from adopt' -l json
complete -c cordon -n '__fish_seen_subcommand_from adopt' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from status' -l json
complete -c cordon -n '__fish_seen_subcommand_from status' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from who' -l cookie -r
complete -c cordon -n '__fish_seen_subcommand_from wait' -l timeout -r
complete -c cordon -n '__fish_seen_subcommand_from wait' -l executor -r
complete -c cordon -n '__fish_seen_subcommand_from wait' -l help -s h

complete -c cordon -n '__fish_seen_subcommand_from watch' -l listen -x -a '127.0.0.1:9783 unix:/run/cordon-watch/watch.sock'
complete -c cordon -n '__fish_seen_subcommand_from watch' -l textfile -r -F
complete -c cordon -n '__fish_seen_subcommand_from watch' -l interval -x
complete -c cordon -n '__fish_seen_subcommand_from watch' -l socket -r -F
complete -c cordon -n '__fish_seen_subcommand_from watch' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from doctor' -l quick
complete -c cordon -n '__fish_seen_subcommand_from doctor' -l json
complete -c cordon -n '__fish_seen_subcommand_from doctor' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from demo' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from policy' -l json
complete -c cordon -n '__fish_seen_subcommand_from policy' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from verify' -l json
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from verify' -l key -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from verify' -l key-file -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from verify' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from verify' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from setup-keys' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from setup-keys' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from renew-keys' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from renew-keys' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from show' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from show' -l json
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from show' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from explain' -l workdir -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from explain' -l tmp -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from explain' -l home -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from explain' -l bind -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from explain' -l record -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from explain' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from explain' -l json
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from explain' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from learn' -l output -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from learn' -l name -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from learn' -l baseline -r -a '(__cordon_known policies)' -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from learn' -l include-credentials
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from learn' -l since -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from learn' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from learn' -l json
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from learn' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from try' -l since -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from try' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from try' -l json
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from try' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from propose' -l json
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from propose' -l report
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from propose' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from apply' -l execution -r -a '(__cordon_known ids)'
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from apply' -l all-of -r -a '(__cordon_known policies)'
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from apply' -l session -r -a '(__cordon_known sessions)'
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from apply' -l allow-wider -r -F
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from apply' -l json
complete -c cordon -n '__fish_seen_subcommand_from policy; and __fish_seen_subcommand_from apply' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l since -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l until -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l execution -r -a '(__cordon_known ids)'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l session -r -a '(__cordon_known sessions)'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l agent -r -a '(__cordon_known agents)'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l policy -r -a '(__cordon_known policies)' -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l operation -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l action -r -a 'execution-start execution-end execution-refused process-exec process-exit denial would-deny open change connect resolve traffic gap policy-change approval identity seal retention segment-compressed agent-start agent-stop'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l verdict -r -a 'denied would-deny allowed'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l path -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l address -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l text -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l lines -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l no-index
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l json
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l utc
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from query' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l format -r -a 'ecs ocsf csv'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l pseudonyms -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l follow
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l after -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l cursor -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l since -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l until -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l execution -r -a '(__cordon_known ids)'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l session -r -a '(__cordon_known sessions)'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l agent -r -a '(__cordon_known agents)'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l policy -r -a '(__cordon_known policies)' -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l operation -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l action -r -a 'execution-start execution-end execution-refused process-exec process-exit denial would-deny open change connect resolve traffic gap policy-change approval identity seal retention segment-compressed agent-start agent-stop'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l verdict -r -a 'denied would-deny allowed'
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l path -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l address -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l text -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l lines -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l no-index
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from export' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from index' -l rebuild
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from index' -l check
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from index' -l json
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from index' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from log; and __fish_seen_subcommand_from index' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l log -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l keep-segments -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l keep-size -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l keep-days -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l keep-unshipped -r -f
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l ship-state -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l when-full -r -a 'refuse continue'
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l fleet -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l log-user -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l policies -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l config -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l require-approval
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l heartbeat -r -f
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l state -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l pid-file -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l idle -r -F
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l embedded
complete -c cordon -n '__fish_seen_subcommand_from daemon' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from disable' -l force
complete -c cordon -n '__fish_seen_subcommand_from disable' -l help -s h
complete -c cordon -n '__fish_seen_subcommand_from config' -l json
complete -c cordon -n '__fish_seen_subcommand_from config' -l help -s h

complete -c cordon -n '__fish_seen_subcommand_from policy' -a 'list check show explain test diff learn try propose apply'
complete -c cordon -n '__fish_seen_subcommand_from policy' -a '(__cordon_known policies)' -F
complete -c cordon -n '__fish_seen_subcommand_from log' -a 'verify setup-keys renew-keys query index export'
complete -c cordon -n '__fish_seen_subcommand_from config' -a 'check reload'
complete -c cordon -n '__fish_seen_subcommand_from approvals' -a 'list refuse revoke'
complete -c cordon -n '__fish_seen_subcommand_from approve approvals' -a '(__cordon_known digests)'
complete -c cordon -n '__fish_seen_subcommand_from show why could report' -a '(__cordon_known ids)'
complete -c cordon -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand)'
complete -c cordon -n '__fish_seen_subcommand_from adopt' -a '(__fish_complete_pids)'
complete -c cordon -n '__fish_seen_subcommand_from kill' -a '(cordon ps --json 2>/dev/null | string match -rag "\"id\":\"([^\"]*)\"")'
complete -c cordon -n '__fish_seen_subcommand_from could explain' -a 'read list write create symlink delete run map connect bind listen socket host'
