import { posix } from 'node:path'
import { readImports } from './read-imports.ts'

/** A place in `src` that names a brick or a package that only bricks use. */
export interface NamedBrick {
  readonly path: string
  readonly line: number
  readonly words: string
}

/** Code without comments; strings and templates stay. Line breaks stay, so that places are right. */
export function withoutCommentText(source: string): string {
  const blocks = source.replaceAll(/\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '))
  return blocks.replaceAll(/(^|\s)\/\/[^\n]*/g, '$1')
}

/**
 * Finds what names a brick of `plugins/`: its entry, its page, `the x brick`, a call of its factory, or a package that
 * only bricks import. A plain word such as `auth`, the key of a route, is not a name of a brick.
 */
export function findBrickNames(
  src: Readonly<Record<string, string>>,
  plugins: Readonly<Record<string, string>>,
): readonly NamedBrick[] {
  const patterns = patternsOf(src, plugins)
  return Object.entries(src).flatMap(([path, source]) =>
    withoutCommentText(source)
      .split('\n')
      .flatMap((text, index) =>
        patterns.flatMap((pattern) => {
          const words = pattern.exec(text)?.[0]
          return words === undefined ? [] : [{ path, line: index + 1, words }]
        }),
      ),
  )
}

function patternsOf(
  src: Readonly<Record<string, string>>,
  plugins: Readonly<Record<string, string>>,
): readonly RegExp[] {
  const names = [...new Set(Object.keys(plugins).map((path) => path.split('/')[1]!))].join('|')
  const packages = packagesOf(plugins).filter(
    (name) => !/^@?mortar\b/.test(name) && !packagesOf(src).includes(name),
  )
  const factories = factoriesOf(plugins)
  return [
    new RegExp(`\\b(?:${names}) brick\\b|brick '(?:${names})'`, 'i'),
    new RegExp(`@mortar/(?:${names})\\b|/_framework/(?:${names})\\b|plugins/(?:${names})\\b`),
    new RegExp(`(?<![.\\w])(?:${[...factories, ...names.split('|')].join('|')})\\(`),
    ...(packages.length > 0 ? [new RegExp(`['"\`](?:${packages.join('|')})['"\`/]`)] : []),
  ]
}

function packagesOf(sources: Readonly<Record<string, string>>): readonly string[] {
  const specifiers = Object.values(sources).flatMap((source) =>
    readImports(source).map(({ specifier }) => specifier),
  )
  const names = specifiers
    .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
    .map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0])
  return [...new Set(names)]
}

/** Functions that the entries of bricks export and whose names end in the name of the brick: `basicAuth`. */
function factoriesOf(plugins: Readonly<Record<string, string>>): readonly string[] {
  const entries = Object.entries(plugins).filter(([path]) => posix.basename(path) === 'index.ts')
  return entries.flatMap(([path, source]) => {
    const brick = path.split('/')[1]!
    const exported = [...source.matchAll(/export (?:function |\{ )(\w+)/g)].map((match) => match[1]!)
    return exported.filter((name) => name.toLowerCase().endsWith(brick) && name !== brick)
  })
}
