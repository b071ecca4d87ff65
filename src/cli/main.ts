#!/usr/bin/env node

// Imports nothing before the version is known: an older Node stops at the first module that it cannot read.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`Mortar needs Node 20.19 or later. This is Node ${process.versions.node}.\n`)
  process.exitCode = 1
} else void import('./run.ts').then(({ run }) => run(process.argv.slice(2), process.cwd()))
