/*
 * The tests of `npm test`: all but the rules of `npm run test:rules`. Mocha begins them in the order of this list. Those
 * that mostly wait are spread over its first half, so that others compute beside them, and none of them is the last.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files that take the longest. */
const LONG = [
  'plugins/auth/slow-database',
  'plugins/jobs/pg-boss',
  'plugins/database/silent-connections',
  'plugins/jobs/worker',
  'plugins/auth/fleet/bad-times',
  'plugins/auth/features/stolen-address',
  'plugins/auth/fleet/ended-everywhere',
  'plugins/auth/ending-model',
  'cli/workers/stuck-worker',
  'plugins/database/failover',
  'cli/new',
  'plugins/auth/document/failing-server',
  'plugins/jobs/bullmq',
  'plugins/auth/features/lost-replies',
  'plugins/auth/features/passkeys/attacks',
  'cli/build-proof',
  'cli/add-new',
  'plugins/auth/features/account-faults',
  'cli/workers/start-workers',
  'plugins/auth/sessions/crashed-process',
  'plugins/auth/features/ways-and-factors',
  'plugins/auth/features/verification-faults',
  'plugins/limits/exact',
  'plugins/auth/features/totp/totp',
  'cli/dev-broken',
  'plugins/auth/document/store',
  'plugins/realtime/channels/processes',
  'plugins/realtime/channels/engine-contract',
  'plugins/database/lock-timeout',
  'plugins/database/unavailable',
  'plugins/auth/features/totp/crashes',
  'examples/notes-providers',
  'app/uncaught-errors',
  'schema/generated-code',
  'schema/libraries-random',
  'schema/calls',
  'cli/dev',
  'cli/workers/sockets',
  'cli/workers/signals',
  'cli/dev-start',
  'plugins/auth/rotation-model',
  'cli/workers/log-output',
  'cli/workers/addresses',
  'plugins/auth/document/server-checks',
  'plugins/realtime/channels/redis',
  'plugins/auth/lost-replies',
  'support/run',
  'plugins/realtime/channels/channels',
  'plugins/auth/provider-suite',
  'plugins/auth/fleet/mass-sign-out',
  'schema/differential',
  'plugins/auth/streams',
  'plugins/database/busy',
  'plugins/auth/faults',
].map((name) => join('test', `${name}.test.ts`))

const config = JSON.parse(readFileSync(join(import.meta.dirname, '.mocharc.json'), 'utf8'))
const all = readdirSync(join(import.meta.dirname, 'test'), { recursive: true })
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.test.ts'))
const missing = LONG.filter((name) => !all.includes(name))
if (missing.length > 0) throw new Error(`.mocharc.all.mjs names missing files: ${missing.join(', ')}`)

const others = all.filter((name) => !LONG.includes(name)).toSorted()
const between = Math.floor(others.length / 2 / LONG.length)

/** Threads of the garbage collector beside each process take 2 to 5 % of the CPU time, as the processes share the processors. */
const COLLECTION = 'single-threaded-gc'

/** `npm test -- test/app` runs what it names, which Mocha would add to the list. */
const isNamed = process.argv.some((argument) => /^(\.\/)?test\//.test(argument))

export default {
  ...config,
  'node-option': [...config['node-option'], COLLECTION],
  ignore: [...config.ignore, 'test/{architecture,bench,docs,guides,scripts}/**'],
  spec: isNamed ? [] : [...LONG.flatMap((long) => [long, ...others.splice(0, between)]), ...others],
}
