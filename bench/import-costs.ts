import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const DIST = join(import.meta.dirname, '../dist')
const RUNS = 5

const ENTRIES: Readonly<Record<string, string>> = {
  mortar: 'src/index.js',
  '@mortar/database': 'plugins/database/index.js',
  '@mortar/mail': 'plugins/mail/index.js',
  '@mortar/auth': 'plugins/auth/index.js',
  '@mortar/auth/basic': 'plugins/auth/basic/index.js',
}
const PACKAGES = [
  'koa',
  'koa-body',
  'yup',
  'awilix/browser',
  'pino',
  'cookies',
  'mime-types',
  'light-my-request',
  'jsonwebtoken',
  'argon2',
  'better-sqlite3',
  'typeorm',
  'nodemailer',
  'rate-limiter-flexible',
]

/** The least of some runs of one import. */
export interface ImportCost {
  readonly name: string
  readonly ms: number
  readonly megabytes: number
}

/** Measures each entry of Mortar and each package in a process that imports it alone. */
export async function importCosts(): Promise<ImportCost[]> {
  const specifiers = [
    ...Object.entries(ENTRIES).map(([name, file]) => ({
      name,
      specifier: pathToFileURL(join(DIST, file)).href,
    })),
    ...PACKAGES.map((name) => ({ name, specifier: name })),
  ]
  const costs: ImportCost[] = []
  for (const { name, specifier } of specifiers) costs.push({ name, ...(await costOf(specifier)) })
  return costs
}

async function costOf(specifier: string): Promise<{ ms: number; megabytes: number }> {
  const costs: { ms: number; bytes: number }[] = []
  for (let each = 0; each < RUNS; each++) {
    const { stdout } = await run(process.execPath, [`${import.meta.dirname}/work/import-cost.js`, specifier])
    costs.push(JSON.parse(stdout) as { ms: number; bytes: number })
  }
  return {
    ms: Math.min(...costs.map(({ ms }) => ms)),
    megabytes: Math.min(...costs.map(({ bytes }) => bytes)) / 1e6,
  }
}
