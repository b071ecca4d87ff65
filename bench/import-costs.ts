import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { fileOf } from './work/mortar-entry.js'

const run = promisify(execFile)
const RUNS = 5

const ENTRIES = ['mortar', '@mortar/database', '@mortar/mail', '@mortar/auth', '@mortar/auth/basic']
const PACKAGES = [
  'koa',
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
    ...ENTRIES.map((name) => ({ name, specifier: pathToFileURL(fileOf(name)).href })),
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
