import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'
import { loadRoutes, type App, type MigrationService } from 'mortar'
import { ROOT } from '../architecture/tree.ts'
import type { Files } from './new-application.ts'

/** Variables with which the application of a guide runs, as `mortar dev` would run it, but without output. */
const VARIABLES = {
  NODE_ENV: 'development',
  MAIL_TRANSPORT: 'memory',
  LOG_LEVEL: 'silent',
}

/** Their imports of packages are those of the repository, because the nearest package.json is its own. */
const LEFT_OUT = /^(?:package\.json|tsconfig\.json|\.mocharc\.json)$/

/** Writes an application into a new folder inside the repository. @returns the folder. */
export function writeApplication(files: Files): string {
  mkdirSync(join(ROOT, 'data'), { recursive: true })
  const directory = mkdtempSync(join(ROOT, 'data/guide-'))
  for (const [path, content] of Object.entries(files)) {
    if (LEFT_OUT.test(path)) continue
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  return directory
}

export function removeApplication(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
}

/** Returns the URL of the database that the commands of a guide use. */
export function databaseOf(directory: string): string {
  return `sqlite:${join(directory, 'data/app.db')}`
}

/** The running application of a guide. */
export interface GuideApplication {
  readonly app: App & { readonly services: { readonly migrations: MigrationService } }
  readonly port: number
}

/** Starts the application of a folder in this process, in the mode of development, with the variables of its `.env`. */
export function startInDevelopment(directory: string, env: string): Promise<GuideApplication> {
  return startApplication(directory, { ...parseEnv(env), ...VARIABLES, DATABASE_URL: databaseOf(directory) })
}

/** Starts the application of a folder in this process, with these variables while it loads. */
export async function startApplication(
  directory: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<GuideApplication> {
  const saved = { ...process.env }
  Object.assign(process.env, variables)
  try {
    const { app } = (await import(pathToFileURL(join(directory, 'app.ts')).href)) as Pick<
      GuideApplication,
      'app'
    >
    await loadRoutes(app, join(directory, 'routes'))
    const { port } = await app.listen(0, '127.0.0.1')
    return { app, port }
  } finally {
    for (const name of Object.keys(process.env))
      if (!(name in saved)) Reflect.deleteProperty(process.env, name)
    Object.assign(process.env, saved)
  }
}
