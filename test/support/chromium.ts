import { existsSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { skipSuite } from './servers.ts'

const CHROMIUM = process.env.TEST_CHROMIUM ?? '/usr/bin/chromium'
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Skips the suite whose body is being read if there is no Chromium. */
export function needChromium(): void {
  if (!existsSync(CHROMIUM)) skipSuite(`there is no Chromium at ${CHROMIUM}; TEST_CHROMIUM names another`)
}

/** Starts Chromium; close it. */
export async function launchChromium(): Promise<Browser> {
  // Where there is no Chromium, its loading would take half a second of each worker that skips a suite.
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS })
}

/** Errors and requests of a page. */
export interface Watched {
  /** Errors of the console and of scripts. */
  readonly complaints: string[]
  /** Addresses of all requests. */
  readonly requested: string[]
}

/** Notes what a page complains about and requests. */
export function watch(page: Page): Watched {
  const watched: Watched = { complaints: [], requested: [] }
  page.on('request', (request) => watched.requested.push(request.url()))
  page.on('console', (message) => message.type() === 'error' && watched.complaints.push(message.text()))
  page.on('pageerror', (error) => watched.complaints.push(error.message))
  return watched
}
