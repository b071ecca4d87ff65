import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { packageOf } from '../../peers/missing-package.ts'

/** An import of a package in a module of the application. */
export interface PackageImport {
  readonly importer: string
  readonly package: string
}

const COMMENTS = /^\s*(?:\/\/|\/?\*).*$/gm
const IMPORT =
  /\b(?:import|export)\s+(?!type\b)(?:([^'";()]*?)\s*from\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g

/** Finds the imports of packages in the given modules and in those that they import, by their text. Types are left out. */
export function importsOf(files: readonly string[]): PackageImport[] {
  return withImported(files).flatMap((importer) =>
    readImports(importer).flatMap(({ specifier }) => {
      const name = packageOf(specifier)
      return name === undefined || builtinModules.includes(name) ? [] : [{ importer, package: name }]
    }),
  )
}

/** Returns the modules in a folder and below it. */
export function modulesIn(folder: string): string[] {
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
  /** True for `import(…)`, which may never run. */
  readonly isLate: boolean
}

/** Reads the imports of a module, without those of types. */
export function readImports(file: string): WrittenImport[] {
  if (!existsSync(file)) return []
  const source = readFileSync(file, 'utf8').replaceAll(COMMENTS, '')
  return [...source.matchAll(IMPORT)].flatMap(([, clause, from, dynamic]) => {
    const inBraces = /^\{([^]*)\}$/.exec(clause?.trim() ?? '')?.[1]
    const names = inBraces?.split(',').map((name) => name.trim())
    if (names?.every((name) => name === '' || name.startsWith('type '))) return []
    return [{ specifier: from ?? dynamic ?? '', isLate: dynamic !== undefined }]
  })
}

function resolveFile(path: string): string | undefined {
  const candidates = [path, path.replace(/\.(m?)js$/, '.$1ts'), `${path}.ts`, join(path, 'index.ts')]
  return candidates.find((file) => existsSync(file) && statSync(file).isFile())
}
