import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createApp, loadRoutes, type App, type Logger } from 'mortar'

/** A loaded folder of routes, with the lines that the application has logged. */
export interface LoadedFolder {
  readonly app: App
  readonly lines: readonly string[]
  get(path: string): Promise<Answer>
}

/** Parts of a response, and of the log line of its error. */
export interface Answer {
  readonly status: number
  readonly detail: string
  readonly origin: unknown
  readonly hint: unknown
}

/** Runs work with an application in development that has loaded the given files, and removes both afterwards. */
export async function withRoutes(
  files: Readonly<Record<string, string>>,
  work: (loaded: LoadedFolder) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-mistakes-'))
  const records: Record<string, unknown>[] = []
  const lines: string[] = []
  const app = createApp({ environment: 'development', logger: recorder(records, lines), signals: false })
  try {
    for (const [name, source] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
      const file = join(folder, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, source)
    }
    await loadRoutes(app, join(folder, 'routes'))
    await work({
      app,
      lines,
      async get(path) {
        const response = await app.inject({ method: 'GET', url: path })
        const { detail = '' } = JSON.parse(response.body || '{}') as { readonly detail?: string }
        const { origin, hint } = records.at(-1) ?? {}
        return { status: response.statusCode, detail, origin, hint }
      },
    })
  } finally {
    await app.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function recorder(records: Record<string, unknown>[], lines: string[]): Logger {
  const write = (given: object | string, message?: string): void => {
    const text = typeof given === 'string' ? given : (message ?? '')
    lines.push(text)
    // The lines of requests have no error.
    if (typeof given === 'object' && 'err' in given) {
      const { err } = given as Record<string, unknown> & {
        readonly err: { readonly type: string; readonly message: string }
      }
      records.push(given)
      lines.push(`${err.type}: ${err.message}`)
    }
  }
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
  return logger
}
