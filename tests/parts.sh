# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For scripts that run tests part by part and sum them up:  . tests/parts.sh
# A part ends with a line "# <name>: N passed, N failed". One that does not, or whose status contradicts
# its count, counts as a failure.

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
start=$SECONDS
: >"$scratch/results"
: >"$scratch/failures"
: >"$scratch/turns"

elapsed() {
	printf '%d:%02d' $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60))
}

# Sets `processor`: the seconds of processor time that this shell's children took, and theirs, as far as they have ended.
look_at_processor() {
	local taken=$scratch/times.$BASHPID
	times >"$taken"
	processor=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", ($1 + $3) * 60 + $2 + $4 }' "$taken")
}

# count LOG STATUS SECONDS PROCESSOR NAME: adds "PASSED FAILED SECONDS PROCESSOR NAME" of a part to the results.
count() {
	local counts passed failed
	counts=$(sed -n 's/^# [^:]*: \([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$1" | tail -n 1)
	if [ -z "$counts" ]; then
		printf '# %s: ended with status %d and without a count\n' "$5" "$2" >>"$1"
		counts='0 1'
	fi
	read -r passed failed <<<"$counts"
	if [ "$2" -ne 0 ] && [ "$failed" -eq 0 ]; then
		printf '# %s: status %d although no failure was counted\n' "$5" "$2" >>"$1"
		failed=1
	fi
	[ "$failed" -eq 0 ] || { printf '\n-- %s\n' "$5" && failures "$1"; } >>"$scratch/failures"
	printf '%d %d %d %d %s\n' "$passed" "$failed" "$3" "$4" "$5" >>"$scratch/results"
	turns "$1" "$5" >>"$scratch/turns"
}

# turns LOG NAME: "MILLISECONDS WHAT, in NAME" of the turn of each daemon's loop that took most processor time, where the part has looked.
turns() {
	sed -n "s/^(longest turn of the daemon's loop: \([0-9.]*\) ms of processor time, \(.*\))\r*\$/\1 \2/p" "$1" |
		while IFS= read -r turn; do printf '%s, in %s\n' "$turn" "$2"; done
}

# failures LOG: the checks that failed, each with what it says below itself; without any, how the log ends.
failures() {
	awk '/^[^a-zA-Z]*not ok/ { told = 6; any = 1 } /^ok/ { told = 0 } told-- > 0 { print substr($0, 1, 300) } END { exit !any }' "$1" ||
		tail -n 20 "$1"
}

# part NAME COMMAND...: runs it, its output as it comes.
part() {
	local name=$1 since=$SECONDS status processor before
	shift
	look_at_processor
	before=$processor
	printf '\n== %s\n' "$name"
	"$@" </dev/null 2>&1 | tee "$scratch/part"
	status=${PIPESTATUS[0]}
	look_at_processor
	count "$scratch/part" "$status" $((SECONDS - since)) $((processor - before)) "$name"
	tail -n 1 "$scratch/part" | grep -q '^# .*: status\|^# .*: ended' && tail -n 1 "$scratch/part"
	printf '(%d s)\n' $((SECONDS - since))
}

# sum NAME: the line that counts all parts, for one whose part this is; its status says whether all is well.
sum() {
	awk -v name="$1" '{ p += $1; f += $2 } END { printf "# %s: %d passed, %d failed\n", name, p, f; exit f > 0 || NR == 0 }' \
		"$scratch/results"
}

# quiet_part NAME COMMAND...: the same for parts that run side by side: output when it is complete.
quiet_part() {
	local name=$1 log since=$SECONDS status=0 processor
	shift
	log=$(mktemp "$scratch/log.XXXXXX")
	printf '%s  %s ...\n' "$(elapsed)" "$name"
	"$@" </dev/null >"$log" 2>&1 || status=$?
	# A shell of its own has no other children.
	look_at_processor
	count "$log" "$status" $((SECONDS - since)) "$processor" "$name"
	flock "$scratch" cat <(printf '\n== %s (done at %s)\n' "$name" "$(elapsed)") "$log"
}

# queue_part NAME COMMAND...: for run_queue to run.
queue_part() {
	printf '%q ' "$@" >>"$scratch/queue"
	printf '\n' >>"$scratch/queue"
}

# recorded_seconds NAME: how long the part took when that was recorded; 9999 where it was not, so that it is begun first.
recorded_seconds() {
	awk -v name="$1" '$0 !~ /^#/ { seconds = $1; sub(/^[0-9]+ /, ""); if ($0 == name) { print seconds; exit } }' \
		tests/seconds | grep . || echo 9999
}

# run_queue NUMBER: the queued parts as quiet ones, so many at a time, the longest first. Then the queue is empty.
run_queue() {
	local running=0 line
	local -a words
	while IFS= read -r line; do
		eval "words=($line)"
		printf '%d\t%s\n' "$(recorded_seconds "${words[0]}")" "$line"
	done <"$scratch/queue" | sort -s -k1,1nr | cut -f 2- >"$scratch/order"
	while IFS= read -r line; do
		if [ "$running" -ge "$1" ]; then
			wait -n
			running=$((running - 1))
		fi
		eval "quiet_part $line" &
		running=$((running + 1))
	done <"$scratch/order"
	wait
	: >"$scratch/queue"
}

# longest_of PATTERN WORDS: of the parts that match.
longest_of() {
	grep "$1" "$scratch/turns" | sort -k1,1nr | head -n 1 | sed "s/^\([0-9.]*\) \(.*\)/$2: \1 ms of processor time, \2/"
}

# Of all parts, so that a loop that something holds up is seen although nothing failed. Where processors are emulated beside
# each other, what they wait for counts.
longest_turn() {
	[ -s "$scratch/turns" ] || return
	printf '\n'
	longest_of ', in turns on' "the longest turn of a daemon's loop, by the instruction clock"
	longest_of '.' "and of all parts, by an emulated machine's own"
}

# What each part counted, how long it took, beside what is recorded, and how much of processors; the longest first; the loop's longest turn; the
# sum; what failed, last, where it is seen. Its status says whether all is well.
summary() {
	printf '\n'
	sort -k3,3nr "$scratch/results" | while read -r passed failed seconds processor name; do
		printf '%6d passed %4d failed %5d s, on record %4d s, of processors %4d s  %s\n' "$passed" "$failed" "$seconds" \
			"$(recorded_seconds "$name")" "$processor" "$name"
	done
	longest_turn
	[ ! -s "$scratch/failures" ] || { printf '\nWhat failed:\n' && cat "$scratch/failures"; }
	awk '{ p += $1; f += $2; s += $4 } END { printf "'"$(elapsed)"', %d minutes of processors\n%d passed, %d failed\n", s / 60, p, f; exit f > 0 || NR == 0 }' \
		"$scratch/results"
}
