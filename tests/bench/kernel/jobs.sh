# SPDX-License-Identifier: Apache-2.0
#
# For the measurements beside it, which set `cordon` and make /bench/log:
#
#   . tests/bench/kernel/jobs.sh; trap end_jobs EXIT

daemon=

# begin_daemon [OPTION]...
begin_daemon() {
	"$cordon" daemon --log /bench/log --heartbeat 0 "$@" 2>/bench/daemon.log &
	daemon=$!
	while ! "$cordon" status >/dev/null 2>&1; do
		kill -0 "$daemon" || {
			cat /bench/daemon.log >&2
			exit 1
		}
		sleep 0.2
	done
}

# Waits until that many executions are live, each a job beside the daemon. What did not come says itself why.
await_live() {
	while [ "$("$cordon" ps --json | grep -o '"id"' | wc -l)" -lt "$1" ]; do
		[ "$(jobs -pr | wc -l)" -gt "$1" ] || {
			echo "of $1 executions and the daemon, one has ended" >&2
			exit 1
		}
		sleep 0.2
	done
}

# The daemon last: executions that lose it would each start another, and there may be a thousand.
end_jobs() {
	local others
	others=$(jobs -p | grep -vx "${daemon:-none}") || :
	if [ -n "$others" ]; then
		kill $others 2>/dev/null || :
		wait $others || :
	fi
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || :
	wait
}
