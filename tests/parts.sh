# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For scripts that run tests part by part and sum them up:  . tests/parts.sh
#
# A part is a command. Its output ends with a line "# NAME: N passed, N failed". A part without this line, or whose
# exit status contradicts it, counts as failed.
#
# summary() runs failed parts once more, alone. A part whose command has a word "::" takes words after it that choose
# what it runs. If its output names everything that failed, in lines "# again: WORD", only these words are run again.
# What passes then counts as passed and as unsteady. More than UNSTEADY_MAX unsteady ones fail the run.

UNSTEADY_MAX=2
# If more parts and words than this failed, the fault is no matter of chance, and nothing is run again.
AGAIN_MAX=10

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
start=$SECONDS
: >"$scratch/results"
: >"$scratch/turns"
: >"$scratch/unsteady"
mkdir "$scratch/failed" || exit 1

# Sets CORDON_SEED, unless it is set: a number that only the files of the tree decide, whatever commit they are of.
use_seed() {
	local tree
	if [ -z "${CORDON_SEED:-}" ]; then
		if ! tree=$(git rev-parse 'HEAD^{tree}' 2>/dev/null) || [ -n "$(git status --porcelain)" ]; then
			tree=$({ git ls-files -co --exclude-standard -z 2>/dev/null || find . \( -path ./build -o -path ./skel \) -prune -o -type f -print0; } |
				LC_ALL=C sort -z | xargs -0 sha256sum 2>/dev/null | sha256sum)
		fi
		CORDON_SEED=$((16#${tree:0:7}))
	fi
	export CORDON_SEED
	printf 'CORDON_SEED=%d\n' "$CORDON_SEED"
}

elapsed() {
	printf '%d:%02d' $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60))
}

# Sets `processor`: the seconds of processor time of this shell's children, and theirs, that have ended.
look_at_processor() {
	local taken=$scratch/times.$BASHPID
	times >"$taken"
	processor=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", ($1 + $3) * 60 + $2 + $4 }' "$taken")
}

# counts_of LOG STATUS NAME: sets `passed` and `failed` of a part, and appends what is wrong with its end to the log.
counts_of() {
	local counts
	counts=$(sed -n 's/^# [^:]*: \([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$1" | tail -n 1)
	if [ -z "$counts" ]; then
		printf '# %s: ended with status %d and without a count\n' "$3" "$2" >>"$1"
		counts='0 1'
	fi
	read -r passed failed <<<"$counts"
	if [ "$2" -ne 0 ] && [ "$failed" -eq 0 ]; then
		printf '# %s: status %d although no failure was counted\n' "$3" "$2" >>"$1"
		failed=1
	fi
}

# count LOG STATUS SECONDS PROCESSOR NAME COMMAND...: adds "PASSED FAILED SECONDS PROCESSOR NAME" of a part to the results. If
# it failed, keeps what run_again() needs.
count() {
	local log=$1 status=$2 took="$3 $4" name=$5 passed failed kept
	shift 5
	counts_of "$log" "$status" "$name"
	printf '%d %d %s %s\n' "$passed" "$failed" "$took" "$name" >>"$scratch/results"
	turns "$log" "$name" >>"$scratch/turns"
	[ "$failed" -gt 0 ] || return
	kept=$(mktemp -d "$scratch/failed/XXXXXX")
	cp "$log" "$kept/log"
	printf '%s\n' "$name" >"$kept/name"
	printf '%d %d\n' "$passed" "$failed" >"$kept/counts"
	printf '%s\0' "$@" >"$kept/command"
	again_words "$log" "$status" "$@" >"$kept/words"
}

# again_words LOG STATUS COMMAND...: the words that failed, one a line. None if the whole part has to be run again: the
# command takes no words, the output names none, or the status is not that of a failed check (a machine that died).
again_words() {
	[ "$2" -ne 1 ] || [[ " ${*:3} " != *" :: "* ]] || sed -n 's/^# again: \([^\r]\{1,\}\)\r*$/\1/p' "$1" | awk '!seen[$0]++'
}

# turns LOG NAME: "MILLISECONDS WHAT, in NAME" of the longest time slice of each daemon's loop, if the part measured it.
turns() {
	sed -n "s/^(longest turn of the daemon's loop: \([0-9.]*\) ms of processor time, \(.*\))\r*\$/\1 \2/p" "$1" |
		while IFS= read -r turn; do printf '%s, in %s\n' "$turn" "$2"; done
}

# failures LOG: the checks that failed, each with the lines below it; if there are none, the end of the log.
failures() {
	awk '/^[^a-zA-Z]*not ok/ { told = 6; any = 1 } /^ok/ { told = 0 } told-- > 0 { print substr($0, 1, 300) } END { exit !any }' "$1" ||
		tail -n 20 "$1"
}

# command_of COMMAND... [:: WORD...]: sets `command` to the command without "::".
command_of() {
	local word
	command=()
	for word in "$@"; do
		[ "$word" = :: ] || command+=("$word")
	done
}

# part NAME COMMAND...: runs it, with its output as it comes.
part() {
	local name=$1 since=$SECONDS status processor before command
	shift
	look_at_processor
	before=$processor
	printf '\n== %s\n' "$name"
	command_of "$@"
	"${command[@]}" </dev/null 2>&1 | tee "$scratch/part"
	status=${PIPESTATUS[0]}
	look_at_processor
	count "$scratch/part" "$status" $((SECONDS - since)) $((processor - before)) "$name" "$@"
	tail -n 1 "$scratch/part" | grep -q '^# .*: status\|^# .*: ended' && tail -n 1 "$scratch/part"
	printf '(%d s)\n' $((SECONDS - since))
}

# sum NAME: the line that counts all parts, for a script that is a part itself; its status says whether all passed.
sum() {
	awk -v name="$1" '{ p += $1; f += $2 } END { printf "# %s: %d passed, %d failed\n", name, p, f; exit f > 0 || NR == 0 }' \
		"$scratch/results"
}

# quiet_part NAME COMMAND...: the same for parts that run side by side: the output when it is complete.
quiet_part() {
	local name=$1 log since=$SECONDS status=0 processor command
	shift
	log=$(mktemp "$scratch/log.XXXXXX")
	printf '%s  %s ...\n' "$(elapsed)" "$name"
	command_of "$@"
	"${command[@]}" </dev/null >"$log" 2>&1 || status=$?
	# A shell of its own has no other children.
	look_at_processor
	count "$log" "$status" $((SECONDS - since)) "$processor" "$name" "$@"
	flock "$scratch" cat <(printf '\n== %s (done at %s)\n' "$name" "$(elapsed)") "$log"
}

# queue_part NAME COMMAND...: for run_queue to run.
queue_part() {
	printf '%q ' "$@" >>"$scratch/queue"
	printf '\n' >>"$scratch/queue"
}

# Queues lint, the unit tests and the fuzzers' corpus. The analyzer looks at the sources that were changed last; `make lint`
# has it look at all.
queue_quick_parts() {
	local jobs
	jobs=$(((${JOBS:-$(nproc)} + 1) / 2))
	queue_part lint "${MAKE:-make}" --no-print-directory LATEST=24 lint
	queue_part unit env "JOBS=$jobs" "TIMES=$build/results/unit-times" tests/unit/run "$build" ::
	queue_part corpus tests/fuzz/run --replay "$build"
}

# recorded_seconds NAME: how long the part took when that was recorded; 9999 if it was not, so that it is begun first.
recorded_seconds() {
	awk -v name="$1" '$0 !~ /^#/ { seconds = $1; sub(/^[0-9.]+ /, ""); if ($0 == name) { print seconds; exit } }' \
		tests/seconds | grep . || echo 9999
}

# run_queue NUMBER: runs the queued parts, so many at a time, the longest first. Then the queue is empty.
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

# again KEPT: runs a failed part once more. Adds to the results the difference that it makes, and notes what was unsteady.
again() {
	local name word status=0 passed failed passed_first failed_first since=$SECONDS processor before
	local -a whole words command=()
	name=$(<"$1/name")
	read -r passed_first failed_first <"$1/counts"
	mapfile -d '' -t whole <"$1/command"
	mapfile -t words <"$1/words"
	if [ ${#words[@]} -gt 0 ]; then
		for word in "${whole[@]}"; do
			[ "$word" != :: ] || break
			command+=("$word")
		done
		command+=("${words[@]}")
	else
		command_of "${whole[@]}"
	fi
	printf '\n== %s, once more, alone%s\n' "$name" "${words[*]/#/: }"
	look_at_processor
	before=$processor
	"${command[@]}" </dev/null >"$1/log" 2>&1 || status=$?
	look_at_processor
	counts_of "$1/log" "$status" "$name"
	cat "$1/log"
	again_words "$1/log" "$status" "${whole[@]}" >"$1/words"
	if [ "$failed" -eq 0 ] || [ -s "$1/words" ]; then
		printf '%s\n' "${words[@]:-}" | grep -vxFf "$1/words" | sed "s|^|$name: |; s|: \$||" >>"$scratch/unsteady"
	fi
	# Of words, only how many failed can be compared.
	[ ${#words[@]} -eq 0 ] || passed=$((passed_first + failed_first - failed))
	printf '%d %d %d %d %s, once more\n' $((passed - passed_first)) $((failed - failed_first)) $((SECONDS - since)) \
		$((processor - before)) "$name" >>"$scratch/results"
	[ "$failed" -gt 0 ] || rm -r "$1"
}

# Runs all that failed once more, one after the other.
run_again() {
	local kept number=0
	for kept in "$scratch"/failed/*/; do
		[ -d "$kept" ] || return 0
		number=$((number + $(wc -l <"$kept/words" | sed 's/^0$/1/')))
	done
	if [ "$number" -gt "$AGAIN_MAX" ]; then
		printf '\n== %d parts and checks failed, so none is run again\n' "$number"
		return
	fi
	for kept in "$scratch"/failed/*/; do
		again "${kept%/}"
	done
}

# longest_of PATTERN WORDS: of the parts that match.
longest_of() {
	grep "$1" "$scratch/turns" | sort -k1,1nr | head -n 1 | sed "s/^\([0-9.]*\) \(.*\)/$2: \1 ms of processor time, \2/"
}

# Of all parts, so that a loop that something holds up is seen although nothing failed. On processors that are emulated
# beside each other, what they wait for counts.
longest_turn() {
	[ -s "$scratch/turns" ] || return
	printf '\n'
	longest_of ', in turns on' "the longest turn of a daemon's loop, by the instruction clock"
	longest_of '.' "and of all parts, by an emulated machine's own"
}

# Runs again what failed. Prints, of each part, its counts, the seconds it took, those on record, and those of processors;
# the loop's longest turn; what failed; what was unsteady; and the sum, last. Its status says whether all is well.
summary() {
	local kept unsteady
	run_again
	unsteady=$(wc -l <"$scratch/unsteady")
	printf '\n'
	sort -k3,3nr "$scratch/results" | while read -r passed failed seconds processor name; do
		printf '%6d passed %4d failed %5d s, on record %4d s, of processors %4d s  %s\n' "$passed" "$failed" "$seconds" \
			"$(recorded_seconds "$name")" "$processor" "$name"
	done
	longest_turn
	for kept in "$scratch"/failed/*/; do
		[ -d "$kept" ] || continue
		printf '\nWhat failed: %s\n' "$(<"$kept/name")"
		failures "$kept/log"
	done
	[ "$unsteady" -eq 0 ] || { printf '\nUnsteady, failed and then passed alone:\n' && sed 's/^/  /' "$scratch/unsteady"; }
	[ "$unsteady" -le "$UNSTEADY_MAX" ] || printf 'more than %d, so they count as failed\n' "$UNSTEADY_MAX"
	awk -v elapsed="$(elapsed)" -v unsteady="$unsteady" -v most="$UNSTEADY_MAX" '
		{ p += $1; f += $2; s += $4 }
		END {
			if (unsteady > most) { p -= unsteady; f += unsteady }
			printf "%s, %d minutes of processors\n", elapsed, s / 60
			if (unsteady) printf "%d passed, %d failed; unsteady: %d\n", p, f, unsteady
			printf "%d passed, %d failed\n", p, f
			exit f > 0 || NR == 0
		}' "$scratch/results"
}
