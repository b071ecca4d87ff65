# #if ci
name: CI

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
# #end
# #if cipnpm
      - uses: pnpm/action-setup@v4
# #end
# #if ciyarn
      - run: corepack enable
# #end
# #if cibun
      - uses: oven-sh/setup-bun@v2
# #end
# #if ci
      - uses: actions/setup-node@v4
        with:
          node-version: 24
# #end
# #if cicache
          cache: {{manager}}
# #end
# #if ci
      - run: {{cleanInstall}}
      - run: {{run}} check
# #end
# #if cilint
      - run: {{run}} lint
# #end
# #if ciformat
      - run: {{run}} format:check
# #end
# #if ci
      - run: {{test}}
      - run: {{run}} build
# #end
