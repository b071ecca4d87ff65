// The contents of an installed package: its files, their links, and what its package.json names.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { ROOT } from '../workspaces.mjs'
import { refuse } from './consumer.mjs'

const WANTED = ['package.json', 'LICENSE', 'README.md', 'CHANGELOG.md', 'dist/index.js', 'dist/index.d.ts']
const WANTED_IN_CORE = [
  'dist/vendor/scalar/LICENSE',
  // The files that `mortar new` writes.
  'dist/cli/new/templates/app/server.ts.tpl',
  'dist/cli/recipes.json',
  'dist/examples/notes/app.ts',
  'docs/README.md',
  'docs/reference/mortar.md',
]
const FOREIGN =
  /(^|\/)(node_modules|bench|coverage|data)\/|(^|\/)\.env$|\.test\.(?!ts\.tpl$)|tsbuildinfo|\.map$/

/** Files of a package, their relative links, and the targets of its package.json. */
export function checkPackage(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('node_modules/'))
  const wanted = manifest.name === 'mortar' ? [...WANTED, ...WANTED_IN_CORE] : WANTED
  refuse(
    `${manifest.name} contains files that are not for its users`,
    files.filter((path) => FOREIGN.test(path) || isSource(path)),
  )
  refuse(
    `${manifest.name} lacks`,
    wanted.filter((path) => !files.includes(path)),
  )
  refuse(`${manifest.name} has links that lead nowhere`, brokenLinks(files, folder, manifest))
  const targets = [manifest.exports, manifest.imports ?? {}, manifest.bin ?? {}].flatMap((part) =>
    Object.values(part).flatMap((target) => (typeof target === 'string' ? target : Object.values(target))),
  )
  refuse(
    `${manifest.name} names files that it does not have`,
    targets.filter((target) => !files.includes(posix.normalize(target))),
  )
  refuse(
    `package.json of ${manifest.name} lacks`,
    ['repository', 'homepage', 'bugs', 'license'].filter((key) => !manifest[key]),
  )
}

/** Sources are only the files that `mortar new` copies. */
function isSource(path) {
  return path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.startsWith('dist/examples/')
}

/** Links of Markdown that are neither in the package nor in the repository, where the page of a registry leads. */
function brokenLinks(files, folder, { repository, name }) {
  const own = name === 'mortar' ? '' : repository.directory
  return files
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => {
      const text = readFileSync(join(folder, path), 'utf8').replaceAll(/```[^]*?```/g, '')
      const links = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)]
      return links
        .map(([, link]) => posix.join(posix.dirname(path), decodeURIComponent(link)))
        .filter((target) => !existsSync(join(folder, target)) && !existsSync(join(ROOT, own, target)))
        .map((target) => `${path}: ${target}`)
    })
}
