# The other runtimes that .ci/run tests. It sources this file, which needs its `copy_checkout`, `tests_beside` and `skip`.
# docs/runtimes.md and README.md name the same versions; test/runtimes/versions.test.ts compares them.

readonly NODES=(24.21.0 26.10.0 22.23.3)
readonly BUN=1.4.5
readonly DENO=2.9.6
# Node-API with its binaries in the package: one copy for every Node from 22. The lockfile has the one for Node 20.
readonly SQLITE=13.2.0

readonly RUNTIMES="${XDG_CACHE_HOME:-$HOME/.cache}/mortar-runtimes"

# The packages name the architecture each in their own way.
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) readonly NODE_ARCH=linux-x64 BUN_ARCH=linux-x64 DENO_ARCH=linux-x64-glibc ;;
  Linux-aarch64) readonly NODE_ARCH=linux-arm64 BUN_ARCH=linux-aarch64 DENO_ARCH=linux-arm64-glibc ;;
  Darwin-arm64) readonly NODE_ARCH=darwin-arm64 BUN_ARCH=darwin-aarch64 DENO_ARCH=darwin-arm64 ;;
  *) readonly NODE_ARCH='' BUN_ARCH='' DENO_ARCH='' ;;
esac

# fetch_package <name> <version>: into a folder of its own in the cache, unless it is there; two tries, and none late.
fetch_package() {
  local folder="$RUNTIMES/$1@$2" partial try
  [[ -d $folder ]] && return
  mkdir -p "$(dirname "$folder")"
  for try in 1 2; do
    ((SECONDS > 240)) && return 1
    partial="$(mktemp -d "$RUNTIMES/partial.XXXXXX")"
    timeout 100 npm install --prefix "$partial" --no-save --ignore-scripts --force --loglevel=error \
      --fetch-timeout=30000 "$1@$2" >"$LOGS/fetch" 2>&1 && mv "$partial" "$folder" 2>/dev/null && return
    rm -rf "$partial"
  done
  return 1
}

# Fills the cache. Runs in the background, as nothing needs it before the tests of the machine's own Node are over.
fetch_runtimes() {
  [[ -z $NODE_ARCH ]] && return
  local version
  fetch_package better-sqlite3 "$SQLITE"
  for version in "${NODES[@]}"; do fetch_package "node-$NODE_ARCH" "$version"; done
  fetch_package "@oven/bun-$BUN_ARCH" "$BUN"
  fetch_package "@deno/$DENO_ARCH" "$DENO"
}

# package_folder <name> <version>
package_folder() { echo "$RUNTIMES/$1@$2/node_modules/$1"; }

# Copies the checkout, and gives the copy the SQLite driver of newer Nodes.
copy_tree() {
  local tree=$1
  copy_checkout "$tree"
  rm -rf "$tree/node_modules/better-sqlite3"
  cp -a "$(package_folder better-sqlite3 "$SQLITE")" "$tree/node_modules/"
}

# Names Bun and Deno for the tests that start the reference application in them; without them those are skipped.
name_runtimes() {
  local bun deno
  bun="$(package_folder "@oven/bun-$BUN_ARCH" "$BUN")/bin/bun"
  deno="$(package_folder "@deno/$DENO_ARCH" "$DENO")/deno"
  [[ -x $bun ]] && export TEST_BUN="$bun" || skip "tests on Bun $BUN: its package could not be installed"
  [[ -x $deno ]] && export TEST_DENO="$deno" || skip "tests on Deno $DENO: its package could not be installed"
}

# test_on_node <version>: begins the quick subset in another time zone. The workflow in .github runs the portable suite
# on each.
test_on_node() {
  local version=$1 binary tree="$LOGS/tree" left=$((BUDGET - SECONDS)) name="tests on Node $1 (quick subset)"
  binary="$(package_folder "node-$NODE_ARCH" "$version")/bin"
  [[ -x $binary/node && -d $(package_folder better-sqlite3 "$SQLITE") ]] ||
    { skip "$name: its package could not be installed" && return; }
  ((left < 120)) && { skip "$name: only $left s were left" && return; }
  [[ -d $tree ]] || copy_tree "$tree"
  tests_beside 600 "$name" env --chdir="$tree" -u TEST_SCAFFOLD TZ=Europe/Berlin PATH="$binary:$PATH" TEST_CASES=0.25 \
    node node_modules/mocha/bin/mocha.js --parallel --jobs 3 \
    --config .mocharc.quick.json --ignore 'test/architecture/**'
}
