import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { findCycles } from './cycles.ts'
import type { Import } from './read-imports.ts'
import { type Package, packageOf, type SourceFile, type Tree, resolveImport } from './tree.ts'

/** Folders of `src`, lowest first: each imports only itself and those before it. */
export const LAYERS = [
  'errors',
  'support',
  'peers',
  'contracts',
  'limits',
  'compat',
  'schema',
  'context',
  'container',
  'routing',
  'files',
  'openapi',
  'pipeline',
  'bricks',
  'koa',
  'app',
  'testing',
  'cli',
] as const

/** The only files outside `src/koa` that import it; the request path knows Koa by `context/outer` alone. */
const KOA_USERS = new Set(['src/index.ts', 'src/app/create-app.ts'])

/** Folders that use the framework as an application does. They may import one another, but no example another. */
export const APPLICATIONS = ['config', 'examples', 'scripts'] as const

export type Rule =
  | 'barrel'
  | 'cycle'
  | 'dependency'
  | 'entry-above'
  | 'koa-room'
  | 'layer'
  | 'plugin-outside'
  | 'public-entry'
  | 'src-outside'
  | 'unknown-folder'

/** A broken rule: `message` names the file, the line and the reason. */
export interface Violation {
  readonly rule: Rule
  readonly file: string
  readonly message: string
}

/** Every broken rule of the tree. Type-only imports and `import()` count like any other. */
export function findViolations(tree: Tree): Violation[] {
  return [...tree.files.flatMap((file) => checkFile(file, tree)), ...checkCycles(tree)]
}

function checkFile(file: SourceFile, tree: Tree): Violation[] {
  const found: Violation[] = []
  const report = (rule: Rule, message: string) => found.push({ rule, file: file.path, message })

  if (unknownFolder(file.path)) report('unknown-folder', `${file.path} is in a folder that is in no layer`)
  if (isCore(file.path) && (file.barrel || isIndex(file.path)) && !tree.entries.has(file.path))
    report('barrel', `${file.path} is a barrel and not a public entry`)
  for (const item of file.imports) {
    const rule = brokenRule(file.path, item, tree)
    if (rule) report(rule, `${file.path}:${item.line} imports ${item.specifier}`)
  }
  return found
}

function brokenRule(path: string, { specifier }: Import, tree: Tree): Rule | undefined {
  const target = resolveImport(path, specifier)
  if (target === undefined) return brokenByPackage(path, specifier, tree)
  if (tree.entries.has(target) && isIndex(target) && path.startsWith(folderOf(target))) return 'entry-above'
  if (path.startsWith('src/')) return brokenInSrc(path, target)
  if (path.startsWith('plugins/')) return brokenInPlugin(path, target)
  return brokenInApplication(path, target)
}

function brokenInSrc(path: string, target: string): Rule | undefined {
  if (!target.startsWith('src/')) return 'src-outside'
  if (target.startsWith('src/koa/') && !path.startsWith('src/koa/') && !KOA_USERS.has(path)) return 'koa-room'
  if (isMainEntry(path)) return layerOf(target) > LAYERS.indexOf('app') ? 'layer' : undefined
  return layerOf(target) > layerOf(path) ? 'layer' : undefined
}

function brokenInPlugin(path: string, target: string): Rule | undefined {
  return target.startsWith(`${brickOf(path)}/`) ? undefined : 'plugin-outside'
}

function brokenInApplication(path: string, target: string): Rule | undefined {
  const between = exampleOf(path) !== undefined && exampleOf(target) !== undefined
  const allowed = isApplication(target) && (!between || exampleOf(path) === exampleOf(target))
  return allowed ? undefined : 'public-entry'
}

/** A package imports what its package.json names, by public entries, and never itself. */
function brokenByPackage(path: string, specifier: string, tree: Tree): Rule | undefined {
  if (specifier.startsWith('#')) return undefined
  const name = packageOf(specifier)
  const isOurs = tree.packages.some(({ manifest }) => manifest.name === name)
  if (isOurs && !tree.publicNames.has(specifier)) return 'public-entry'
  const owner = tree.packages.find(({ folder }) => path.startsWith(`${folder}/`))
  if (owner === undefined) return undefined
  if (isOurs && path.startsWith('src/')) return 'src-outside'
  if (isOurs && !mayImport(path, specifier, owner)) return 'plugin-outside'
  const present = specifier.startsWith('node:') || isDeclared(name, owner)
  return present && !builtinModules.includes(specifier) ? undefined : 'dependency'
}

/** A brick meets another one through services only. The one exception: a variant of a provider builds on `@mortar/auth`. */
function mayImport(path: string, specifier: string, owner: Package): boolean {
  if (['mortar', 'mortar/kit', 'mortar/yup'].includes(specifier)) return true
  // The suites of a brick speak to an application as its tests do.
  if (specifier === 'mortar/testing') return path.startsWith(`${owner.folder}/testing/`)
  const isVariant = owner.manifest.name.startsWith('@mortar/auth-')
  return isVariant && (specifier === '@mortar/auth' || specifier === '@mortar/auth/provider')
}

function isDeclared(name: string, { manifest }: Package): boolean {
  return Object.hasOwn({ ...manifest.dependencies, ...manifest.peerDependencies }, name)
}

function checkCycles(tree: Tree): Violation[] {
  const successors = new Map(tree.files.map((file) => [file.path, successorsOf(file, tree)]))
  const cycles = findCycles([...successors.keys()], (path) => successors.get(path) ?? [])
  return cycles.map((cycle) => ({
    rule: 'cycle',
    file: cycle[0]!,
    message: `these import one another in a circle: ${cycle.join(', ')}`,
  }))
}

function successorsOf(file: SourceFile, tree: Tree): string[] {
  const known = new Set(tree.files.map(({ path }) => path))
  const targets = file.imports.map(({ specifier }) => resolveImport(file.path, specifier))
  return targets.filter((target): target is string => target !== undefined && known.has(target))
}

function unknownFolder(path: string): boolean {
  if (path.startsWith('src/')) return !isMainEntry(path) && layerOf(path) < 0
  return path.startsWith('plugins/') && path.split('/').length < 3
}

function isCore(path: string): boolean {
  return path.startsWith('src/') || path.startsWith('plugins/')
}

/** The entries of the core that hand on names of all its layers. */
function isMainEntry(path: string): boolean {
  return path === 'src/index.ts' || path === 'src/kit.ts'
}

function brickOf(path: string): string {
  return path.split('/').slice(0, 2).join('/')
}

function isIndex(path: string): boolean {
  return posix.basename(path) === 'index.ts'
}

function folderOf(path: string): string {
  return `${posix.dirname(path)}/`
}

function layerOf(path: string): number {
  return (LAYERS as readonly string[]).indexOf(path.split('/')[1] ?? '')
}

function isApplication(path: string): boolean {
  return (APPLICATIONS as readonly string[]).includes(path.split('/')[0] ?? '')
}

/** Each example is an application of its own: `examples/notes/app.ts` is of `notes`. */
function exampleOf(path: string): string | undefined {
  const [top, name] = path.split('/')
  return top === 'examples' ? name : undefined
}
