{
  "node-option": ["import=tsx", "no-experimental-require-module"],
  "extension": ["test.ts"],
  "spec": ["test/**/*.test.ts"],
  "require": ["test/setup.ts"],
  "timeout": 10000,
  "fail-zero": true,
  "forbid-only": true
}
