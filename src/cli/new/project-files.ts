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
  const add = choices.hasAuthFeatures ? withFeatureTables : (file: ProjectFile): ProjectFile => file
  const files = [{ path: 'package.json', content: renderPackage(choices) }, ...layers.flat()]
  const last = new Map(files.map((file) => [file.path, file]))
  return [...last.values()]
    .map((file) => (file.path === '.env.example' ? withVariables(file, choices) : add(file)))
    .filter(({ path, content }) => content.trim() !== '' && isWanted(path, choices))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** The schema with the tables of features. */
function withFeatureTables(file: ProjectFile): ProjectFile {
  const { path, content } = file
  return path === 'schema.ts' ? { path, content: `${content}\nexport * from './feature-schema.ts'\n` } : file
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
  const { database, auth, hasAuthFeatures, parts, manager } = choices
  return new Set([
    database,
    auth,
    ...(hasAuthFeatures ? ['features'] : []),
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

/** Files of the reference application, which is named Notes. Its later migrations add the tables of features. */
async function fromReference(
  kind: keyof typeof FROM_REFERENCE,
  { database, hasAuthFeatures }: Choices,
  { texts }: TemplateValues,
): Promise<ProjectFile[]> {
  const migrations = (await filesUnder(REFERENCE, `migrations/${dialectOf(database)}`)).filter((path) =>
    path.endsWith('-init.ts') ? kind === 'notes' : hasAuthFeatures,
  )
  const others = [...FROM_REFERENCE[kind], ...(hasAuthFeatures ? ['feature-schema.ts'] : [])]
  const paths = [
    ...migrations,
    ...(await Promise.all(others.map((path) => filesUnder(REFERENCE, path)))).flat(),
  ]
  return Promise.all(
    paths.map(async (path) => ({
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
