# How .ci/run runs tests. It sources this file, which needs its `step`, `$LOGS`, and the variables for the numbers.

# run_tests <seconds> <name> <command…>: takes over the numbers of its closing line; a run without one is one failure.
run_tests() {
  step "$@" 2>&1 | tee "$LOGS/tests"
  count_tests "$LOGS/tests" "${PIPESTATUS[0]}" "$2"
}

# tests_beside <seconds> <name> <command…>: does so while others do. `join_tests` waits for all, and shows what follows the
# lists of their tests.
tests_beside() {
  step "$@" >"$LOGS/tests-${#testing[@]}" 2>&1 &
  testing+=($!)
  tested+=("$2")
}

join_tests() {
  local each status
  for each in "${!testing[@]}"; do
    wait "${testing[each]}"
    status=$?
    sed --quiet --regexp-extended '/^==>/p; /^==>/!{/^  [0-9]+ passing/,$p}' "$LOGS/tests-$each"
    count_tests "$LOGS/tests-$each" "$status" "${tested[each]}"
  done
  testing=()
  tested=()
}

# count_tests <report> <status> <name>
count_tests() {
  local line left
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$1" | tail -n 1)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
    left=${BASH_REMATCH[4]:-0}
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    ((left > 0)) && skipped+=("$left of the $3, named in their report")
    (($2 != 0 && BASH_REMATCH[2] == 0)) && failed=$((failed + 1))
  else
    failed=$((failed + 1))
  fi
}
