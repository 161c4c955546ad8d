# SPDX-License-Identifier: Apache-2.0
#
# For the measurements beside it, which set `daemon` once they have started one:
#
#   . tests/bench/kernel/jobs.sh; trap end_jobs EXIT

daemon=

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
