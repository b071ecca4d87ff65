import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode } from '../../support/database-fault.ts'
import { readableError } from '../../support/readable-error.ts'
import type { CommandInput } from '../command.ts'
import { replaceFile } from '../replace-file.ts'
import { assembleProject } from '../project/inspect-project.ts'
import { migrationsOf } from '../project/migration-service.ts'
import { findModule, type Project, shown } from '../project/project.ts'
import type { Addition } from './plan-addition.ts'

/**
 * Makes the missing folders of a brick, exports its tables and generates their migration; nothing in a dry run.
 * @param isUsable false if the application lacks the brick or one that it needs, so that it does not start.
 * @returns the steps that remain.
 */
export async function addFiles(
  { name, parts: { folders = [], tables, next = [] } }: Addition,
  project: Project,
  { input, isUsable }: { readonly input: CommandInput; readonly isUsable: boolean },
): Promise<readonly string[]> {
  const home = dirname(project.app)
  const missing = folders.filter((folder) => !existsSync(join(home, folder)))
  const isDry = input.values['dry-run'] === true
  for (const folder of isDry ? [] : missing) {
    replaceFile(join(home, folder, '.gitkeep'), '')
    input.terminal.note(`Made ${folder}, with .gitkeep, because Git keeps no empty folder.`)
  }
  const steps = [...(isDry ? missing.map((folder) => `mkdir ${folder}`) : []), ...next]
  if (tables === undefined) return steps
  const line = `export * from '${tables}'`
  const change = `add ${name.replaceAll(/\W+/g, ' ').trim()}`
  const isExported = isUsable && appendExport(line, home, input)
  if (!isExported) steps.push(`Export its tables from the schema module: ${line}`)
  const failure = isExported ? await generateMigration(change, project, input) : 'not usable'
  if (errorCode(failure) === 'MORTAR_MIGRATION_PENDING') steps.push('npx mortar migrate run')
  if (failure !== undefined) steps.push(`npx mortar migrate generate '${change}'`)
  return steps
}

/** @returns false if there is no schema module. */
function appendExport(line: string, home: string, { terminal, directory }: CommandInput): boolean {
  const file = findModule(home, 'schema')
  if (file === undefined) return false
  const source = readFileSync(file, 'utf8')
  if (source.includes(line)) return true
  replaceFile(file, `${source.trimEnd()}\n\n${line}\n`)
  terminal.note(`Added the tables to ${shown(file, directory)}: ${line}`)
  return true
}

/** @returns the reason if the application or its database is not ready for it. Then it wrote no file. */
async function generateMigration(change: string, project: Project, input: CommandInput): Promise<unknown> {
  const { note } = input.terminal
  try {
    const inspection = await assembleProject(project)
    if (inspection.options.environment === 'production') return 'production'
    const migrations = migrationsOf(inspection)
    // A new database has nothing to lose; the developer decides about the migrations of another.
    const runInNew = migrations.missingFile() === undefined ? () => undefined : () => migrations.run()
    await migrations.connected(async () => {
      await runInNew()
      const written = await migrations.generate(change)
      if (written !== undefined) note(`Wrote ${shown(written.file, input.directory)}.`)
      await runInNew()
    })
    return undefined
  } catch (error) {
    note(`The migration was not written: ${readableError(error)}`)
    return error
  }
}
