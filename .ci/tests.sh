# How .ci/run runs tests. It sources this file, which needs its `step`, `$LOGS`, and the variables for the numbers.

# run_tests <seconds> <name> <command…>: takes over the numbers of its closing line; a run without one is one failure.
# The whole report is shown for `npm test`, and only what follows the list of tests for any other command.
run_tests() {
  local log="$LOGS/test" show='/^  [0-9]+ passing/,$p' status line ok bad left
  [[ $3 == npm ]] && show='p'
  export TEST_FAILED_FILES="$LOGS/failed-files"
  rm -f "$TEST_FAILED_FILES"
  step "$@" 2>&1 | tee "$log" | sed --quiet --unbuffered --regexp-extended "/^==>/p; /^==>/!{$show}"
  status=${PIPESTATUS[0]}
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
    ok=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]} left=${BASH_REMATCH[4]:-0}
    ((status != 0 && bad > 0)) && second_try "${@:3}" && status=0 bad=0
    passed=$((passed + ok))
    failed=$((failed + bad))
    ((left > 0)) && skipped+=("$left of the $2, named in their report")
    ((status != 0 && bad == 0)) && failed=$((failed + 1))
  else
    failed=$((failed + 1))
  fi
}

# second_try <command…>: runs the files that failed, at most three, once more with the start of the command, alone and one
# after another. When all pass, it puts their numbers into `ok` and `left` in place of those of the first run.
second_try() {
  local before=() files="$LOGS/first-try" log="$LOGS/second-try" titles=() word yes no file title line more=0 skips=0
  for word in "$@"; do [[ $word == --parallel ]] && break || before+=("$word"); done
  # The same random cases: what they find must be found again.
  local -x TEST_SEED="$(sed -nE 's/.*TEST_SEED=([0-9]+)$/\1/p' "$LOGS/test" | tail -n 1)"
  mv "$TEST_FAILED_FILES" "$files" && (($(wc -l <"$files") <= 3)) || return 1
  while IFS=$'\t' read -r yes no file title; do
    [[ -n $file && $file != 'no file' ]] || return 1
    step 240 "second try of $file" "${before[@]}" "$file" >"$log" 2>&1 || { cat "$log" && return 1; }
    grep '^==>' "$log"
    line=$(tail -n 1 <(grep -E '^[0-9]+ passed, 0 failed' "$log"))
    [[ $line =~ ^([0-9]+)\ passed,\ 0\ failed(,\ ([0-9]+)\ skipped)? ]] || return 1
    more=$((more + BASH_REMATCH[1] - yes)) skips=$((skips + ${BASH_REMATCH[3]:-0} - no))
    titles+=("$file: $title")
  done <"$files"
  ((${#titles[@]} > 0)) && ok=$((ok + more)) left=$((left + skips)) && flaky+=("${titles[@]}")
}
