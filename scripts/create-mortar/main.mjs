#!/usr/bin/env node
// `npm create mortar my-app` is `mortar new my-app`, by the very version of the framework that this package names.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const manifest = createRequire(import.meta.url).resolve('mortar/package.json')
const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
const program = join(dirname(manifest), bin.mortar)
const { status } = spawnSync(process.execPath, [program, 'new', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1
