# How .ci/run runs tests. It sources this file, which needs its `step`, `$LOGS`, and the variables for the numbers.

# run_tests <seconds> <name> <command…>: takes over the numbers of its closing line; a run without one is one failure.
# The whole report is shown for `npm test`, and only what follows the list of tests for any other command.
run_tests() {
  local log="$LOGS/test" show='/^  [0-9]+ passing/,$p' status line left
  [[ " $* " == *' npm test '* ]] && show='p'
  step "$@" 2>&1 | tee "$log" | sed --quiet --unbuffered --regexp-extended "/^==>/p; /^==>/!{$show}"
  status=${PIPESTATUS[0]}
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
    left=${BASH_REMATCH[4]:-0}
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    ((left > 0)) && skipped+=("$left of the $2, named in their report")
    ((status != 0 && BASH_REMATCH[2] == 0)) && failed=$((failed + 1))
  else
    failed=$((failed + 1))
  fi
}
