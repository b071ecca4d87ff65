import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { appendVariables } from '../add/env-example.ts'
import { commandLineFolder, referenceFolder } from '../framework-manifest.ts'
import { recipeBook } from '../recipe-book.ts'
import type { Choices } from './choices.ts'
import { wordsOf } from './manager.ts'
import { type ChosenParts, chosenBricks } from './chosen-bricks.ts'
import { renderPackage, withScripts } from './render-package.ts'
import { renderTemplate, type TemplateValues } from './render-template.ts'

/*
 * An application with users is a copy of the reference application, which the tests run. Everything else comes from
 * `templates/`. The build copies both beside the compiled files.
 */
const TEMPLATES = join(commandLineFolder(), 'new/templates')
const REFERENCE = referenceFolder()

/** The parts of an application with users that come from the reference application; its migrations come in addition. */
const FROM_REFERENCE = {
  notes: [
    'app.ts',
    'config/mail.ts',
    'note-schemas.ts',
    'note-service.ts',
    'route.ts',
    'routes',
    'schema.ts',
  ],
  users: ['config/mail.ts', 'routes/index.get.ts', 'routes/reset-password.get.ts'],
} as const

/** Layers of templates of each kind of application. A later layer replaces files of an earlier one. */
const LAYERS = {
  notes: ['app', 'basic', 'notes'],
  users: ['app', 'small', 'basic', 'users'],
  greetings: ['app', 'small', 'greetings'],
  tables: ['app', 'small', 'tables', 'plain'],
  hello: ['app', 'small', 'hello'],
  plain: ['app', 'small', 'plain'],
} as const

type Kind = keyof typeof LAYERS

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
  const layers = [
    ...(await Promise.all(LAYERS[kind].map((layer) => fromTemplates(layer, values)))),
    ...(kind === 'notes' || kind === 'users' ? [await fromReference(kind, choices, values)] : []),
  ]
  const files = [{ path: 'package.json', content: renderPackage(choices) }, ...layers.flat()]
  const last = new Map(files.map((file) => [file.path, file]))
  return [...last.values()]
    .map((file) => (file.path === '.env.example' ? withVariables(file, choices) : file))
    .filter(({ path, content }) => content.trim() !== '' && isWanted(path, choices))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** `.env.example` with the variables of the chosen bricks. */
function withVariables({ path, content }: ProjectFile, choices: Choices): ProjectFile {
  const chosen = chosenBricks(choices, recipeBook()).filter(({ onlyTests }) => !onlyTests)
  const append = (text: string, { parts }: ChosenParts): string => appendVariables(text, parts, choices.name)
  return { path, content: chosen.reduce(append, content) }
}

/** Returns the kind of the first application. */
function kindOf({ database, auth, parts }: Choices): Kind {
  const hasExample = parts.has('example')
  if (auth === 'basic') return hasExample ? 'notes' : 'users'
  if (database === 'none') return hasExample ? 'hello' : 'plain'
  return hasExample ? 'greetings' : 'tables'
}

function templateValues(choices: Choices, secret: string): TemplateValues {
  const { name, database, manager, managerVersion = '' } = choices
  const words = name.split(/[._-]+/).filter((word) => word !== '')
  return {
    texts: {
      name,
      title: words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' '),
      database: name.replaceAll(/\W/g, '_'),
      dialect: dialectOf(database),
      server: database === 'mysql' ? 'MySQL or MariaDB' : 'PostgreSQL',
      serverUrl:
        database === 'mysql'
          ? 'mysql://root:root@localhost:3306'
          : 'postgres://postgres:postgres@localhost:5432',
      secret,
      manager,
      managerVersion,
      ...wordsOf(manager),
      builds: withScripts(choices)
        .map((each) => `  ${each}: true`)
        .join('\n'),
    },
    flags: flagsOf(choices),
  }
}

/** Returns the names of the conditions of templates that hold. Conditions do not nest. */
function flagsOf(choices: Choices): Set<string> {
  const { database, auth, parts, manager } = choices
  return new Set([
    database,
    auth,
    kindOf(choices),
    manager,
    ...parts,
    ...(database === 'none' ? [] : ['database']),
    ...(database === 'postgres' || database === 'mysql' ? ['server'] : []),
    ...(parts.has('docker') ? [`docker${database}`, `docker${manager}`] : []),
    ...(parts.has('docker') && manager !== 'npm' ? ['dockermanager'] : []),
    ...(parts.has('ci') ? [...parts, manager].map((each) => `ci${each}`) : []),
    ...(parts.has('ci') && manager !== 'bun' ? ['cicache'] : []),
  ])
}

function dialectOf(database: Choices['database']): string {
  return database === 'sqlite' ? 'better-sqlite3' : database
}

/** The migrations folder of the chosen database, because a migration contains the SQL of one kind of database. */
function isWanted(path: string, { database }: Choices): boolean {
  return !path.startsWith('migrations/') || path.startsWith(`migrations/${dialectOf(database)}/`)
}

/** Files of the reference application, which is named Notes. */
async function fromReference(
  kind: keyof typeof FROM_REFERENCE,
  { database }: Choices,
  { texts }: TemplateValues,
): Promise<ProjectFile[]> {
  const wanted = [...FROM_REFERENCE[kind], ...(kind === 'notes' ? [`migrations/${dialectOf(database)}`] : [])]
  const files = (await Promise.all(wanted.map((path) => filesUnder(REFERENCE, path)))).flat()
  // The later migrations add the tables of features, which a new application does not have.
  const first = files.filter((path) => !path.startsWith('migrations/') || path.endsWith('-init.ts'))
  return Promise.all(
    first.map(async (path) => ({
      path,
      content: (await readFile(join(REFERENCE, path), 'utf8')).replace(`'Notes'`, `'${texts['title']}'`),
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
