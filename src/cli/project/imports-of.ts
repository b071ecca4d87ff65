import { existsSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, resolve } from 'node:path'
import { packageOf } from '../../peers/missing-package.ts'

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

/** Finds the imports of packages in the given modules and in those that they import, by their text. Types are left out. */
export function importsOf(files: readonly string[]): PackageImport[] {
  const found: PackageImport[] = []
  const seen = new Set(files)
  // The loop also reaches what it adds.
  for (const importer of seen)
    for (const { specifier, names } of readImports(importer)) {
      const file = specifier.startsWith('.') ? resolveFile(resolve(dirname(importer), specifier)) : undefined
      if (file !== undefined) seen.add(file)
      const name = packageOf(specifier)
      if (name !== undefined && !builtinModules.includes(name))
        found.push({ importer, specifier, package: name, names })
    }
  return found
}

function readImports(file: string): { readonly specifier: string; readonly names: readonly string[] }[] {
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
    return [{ specifier: from ?? dynamic ?? '', names: names.map((name) => name.split(/\s/)[0]!) }]
  })
}

function resolveFile(path: string): string | undefined {
  return [path, path.replace(/\.(m?)js$/, '.$1ts')].find((file) => existsSync(file))
}
