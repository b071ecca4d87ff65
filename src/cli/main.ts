#!/usr/bin/env node
import { run } from './run.ts'

/** The program `mortar`: what the arguments ask for, and the exit code that says how it went. */
await run(process.argv.slice(2), process.cwd())
