import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { packageOf } from '../../peers/missing-package.ts'
import { isFile, type Project } from './project.ts'

/** An import of a package in a module of the application. */
export interface PackageImport {
  readonly importer: string
  readonly specifier: string
  readonly package: string
  readonly names: readonly string[]
}

const COMMENTS = /^\s*(?:\/\/|\/?\*).*$/gm
const IMPORT =
  /\b(?:import|export)\s+(?!type\b)(?:([^'";()]*?)\s*from\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g

/** The modules that an application begins with. */
export type Modules = Pick<Project, 'app' | 'server' | 'routes'>

/** Finds the imports of packages in the modules of an application, by their text. Types are left out. */
export function importsOf(modules: Modules): PackageImport[] {
  return modulesOf(modules).flatMap((importer) =>
    readImports(importer).flatMap(({ specifier, names }) => {
      const name = packageOf(specifier)
      return name === undefined || builtinModules.includes(name)
        ? []
        : [{ importer, specifier, package: name, names }]
    }),
  )
}

/** Returns the modules of an application: its entry points, its routes and the modules that they import. */
export function modulesOf({ app, server, routes }: Modules): string[] {
  const own = [app, ...(server === undefined ? [] : [server])]
  return withImported([...own, ...(routes === undefined ? [] : modulesIn(routes))])
}

function modulesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return entries.filter((path) => /\.m?[jt]s$/.test(path)).map((path) => join(folder, path))
}

function withImported(files: readonly string[]): string[] {
  const seen = new Set(files)
  // The loop also reaches what it adds.
  for (const importer of seen)
    for (const { specifier } of readImports(importer)) {
      const file = specifier.startsWith('.') ? resolveFile(resolve(dirname(importer), specifier)) : undefined
      if (file !== undefined) seen.add(file)
    }
  return [...seen]
}

/** An import as a module writes it. */
interface WrittenImport {
  readonly specifier: string
  readonly names: readonly string[]
  /** True for `import(…)`, which may never run. */
  readonly isLate: boolean
}

/** Reads the imports of a module, without those of types. */
export function readImports(file: string): WrittenImport[] {
  if (!existsSync(file)) return []
  const source = readFileSync(file, 'utf8').replaceAll(COMMENTS, '')
  return [...source.matchAll(IMPORT)].flatMap(([, clause, from, dynamic]) => {
    const inBraces = /^\{([^]*)\}$/.exec(clause?.trim() ?? '')?.[1]
    const all = (inBraces ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
    const names = all.filter((name) => !name.startsWith('type '))
    if (all.length > 0 && names.length === 0) return []
    const isLate = dynamic !== undefined
    return [{ specifier: from ?? dynamic ?? '', names: names.map((name) => name.split(/\s/)[0]!), isLate }]
  })
}

function resolveFile(path: string): string | undefined {
  const candidates = [path, path.replace(/\.(m?)js$/, '.$1ts'), `${path}.ts`, join(path, 'index.ts')]
  return candidates.find(isFile)
}
