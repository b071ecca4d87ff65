import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { appendVariables } from '../add/env-example.ts'
import { commandLineFolder, frameworkManifest } from '../framework-manifest.ts'
import type { Choices } from './choices.ts'
import { type ChosenParts, chosenBricks } from './chosen-bricks.ts'
import { renderPackage } from './render-package.ts'
import { renderTemplate, type TemplateValues } from './render-template.ts'

/*
 * An application with users is a copy of the reference application, which the tests run. Everything else comes from
 * `templates/`. The build copies both in the same layout beside the compiled files, so that a relative path is valid
 * in the sources and in the package.
 */
const TEMPLATES = join(commandLineFolder(), 'new/templates')
const REPOSITORY = join(commandLineFolder(), '../..')
const REFERENCE = 'examples/notes'

/** Parts of the reference application that do not depend on the choices. */
const SHARED = [
  `${REFERENCE}/app.ts`,
  `${REFERENCE}/config/mail.ts`,
  `${REFERENCE}/note-schemas.ts`,
  `${REFERENCE}/note-service.ts`,
  `${REFERENCE}/route.ts`,
  `${REFERENCE}/routes`,
  `${REFERENCE}/schema.ts`,
]

/** A file to be written; its path is relative to the application, with slashes. */
export interface ProjectFile {
  readonly path: string
  readonly content: string
}

/**
 * Returns the files of a new application, ordered by path.
 * @param secret for `AUTH_SECRET` in `.env`.
 */
export async function projectFiles(choices: Choices, secret: string): Promise<ProjectFile[]> {
  const values = templateValues(choices, secret)
  const kind = kindOf(choices)
  const layers = await Promise.all([
    ...(kind === 'notes' ? [fromReference(choices)] : []),
    fromTemplates('app', values),
    fromTemplates(kind, values),
  ])
  const files = [{ path: 'package.json', content: renderPackage(choices) }, ...layers.flat()]
  return files
    .map((file) => (file.path === '.env.example' ? withVariables(file, choices) : file))
    .filter(({ path, content }) => content.trim() !== '' && isWanted(path, choices))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** `.env.example` with the variables of the chosen bricks. */
function withVariables({ path, content }: ProjectFile, choices: Choices): ProjectFile {
  const chosen = chosenBricks(choices, frameworkManifest()).filter(({ onlyTests }) => !onlyTests)
  const append = (text: string, { parts }: ChosenParts): string => appendVariables(text, parts, choices.name)
  return { path, content: chosen.reduce(append, content) }
}

/** Returns the kind of the first application. */
function kindOf({ database, auth }: Choices): 'notes' | 'greetings' | 'hello' {
  if (auth === 'basic') return 'notes'
  return database === 'none' ? 'hello' : 'greetings'
}

function templateValues({ name, database, auth }: Choices, secret: string): TemplateValues {
  const words = name.split(/[._-]+/).filter((word) => word !== '')
  return {
    texts: {
      name,
      title: words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' '),
      database: name.replaceAll(/\W/g, '_'),
      dialect: dialectOf(database),
      secret,
    },
    flags: new Set([
      database,
      auth,
      ...(database === 'none' ? [] : ['database']),
      kindOf({ database, auth } as Choices),
    ]),
  }
}

function dialectOf(database: Choices['database']): string {
  return database === 'sqlite' ? 'better-sqlite3' : database
}

/** The migrations folder of the chosen database, because a migration contains the SQL of one kind of database. */
function isWanted(path: string, { database }: Choices): boolean {
  return !path.startsWith('migrations/') || path.startsWith(`migrations/${dialectOf(database)}/`)
}

async function fromReference(choices: Choices): Promise<ProjectFile[]> {
  const migrations = `${REFERENCE}/migrations/${dialectOf(choices.database)}`
  const files = await Promise.all([...SHARED, migrations].map((path) => filesUnder(REPOSITORY, path)))
  return Promise.all(
    files.flat().map(async (path) => ({
      path: path.replace(`${REFERENCE}/`, ''),
      content: await readFile(join(REPOSITORY, path), 'utf8'),
    })),
  )
}

async function fromTemplates(layer: string, values: TemplateValues): Promise<ProjectFile[]> {
  const root = join(TEMPLATES, layer)
  const paths = await filesUnder(root, '.')
  return Promise.all(
    paths.map(async (path) => ({
      path: path.replace(/\.tpl$/, '').replace(/(^|\/)dot-/, '$1.'),
      content: renderTemplate(await readFile(join(root, path), 'utf8'), values),
    })),
  )
}

/** Lists a file, or all files below a folder; relative to the root, with slashes. */
async function filesUnder(root: string, path: string): Promise<string[]> {
  if (path.endsWith('.ts')) return [path]
  const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
}
