import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { expect } from 'chai'
import { anchorsOf, relativeLinks } from './markdown.ts'
import { withoutComments } from './source-text.ts'
import { ROOT, listFiles, readSources } from './tree.ts'

const NOT_OURS = new Set([
  'node_modules',
  '.git',
  'dist',
  'data',
  'coverage',
  '.framework',
  '.env',
  '.env.local',
])
const BINARY = /\.(png|jpe?g|gif|ico|webp|woff2?|pdf|gz|tgz|zip|db|sqlite)$/
const MACHINE_PATH = new RegExp(String.raw`(?<![\w.:/}-])/(?:work|root|home/\w+)/`)
const REGISTRY = /\b(?:registry\.(?:npmjs|yarnpkg|npmmirror)\b|"resolved":|artifactory|verdaccio)/
const ENVIRONMENT = /\bprocess\s*\??\.\s*env\b|\bprocess\[|from 'node:process'/

/** Every file of the repository, as a clone has it. */
function repositoryFiles(): string[] {
  const top = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => !NOT_OURS.has(entry.name))
  return top.flatMap((entry) => (entry.isDirectory() ? listFiles(entry.name) : [entry.name]))
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

const files = repositoryFiles()
const documents = files.filter((path) => path.endsWith('.md') && !path.startsWith('test/fixtures/'))

describe('the documents', () => {
  it('link only to files and headings that exist', () => {
    const broken = documents.flatMap((document) =>
      relativeLinks(read(document))
        .filter((link) => !leadsSomewhere(document, link))
        .map((link) => `${document}: ${link}`),
    )
    expect(broken).to.deep.equal([])
  })
})

describe('the repository', () => {
  it('contains no path of one machine and no package registry', () => {
    const texts = files.filter((path) => !BINARY.test(path) && !import.meta.filename.endsWith(path))
    const found = texts.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) => (namesMachine(line) ? [`${path}:${index + 1}`] : [])),
    )
    expect(found).to.deep.equal([])
  })

  it('installs no package that refuses Node 20, for which npm would print a warning', () => {
    interface Lock {
      readonly packages: Readonly<Record<string, { readonly engines?: { readonly node?: string } }>>
    }
    const { packages } = JSON.parse(read('package-lock.json')) as Lock
    const isNewer = (range: string): boolean => /^\s*[>=^~]*\s*(2[1-9]|[3-9]\d)/.test(range)
    const refusing = Object.entries(packages).filter(([, { engines }]) =>
      (engines?.node ?? '*').split('||').every(isNewer),
    )
    expect(refusing.map(([path]) => path)).to.deep.equal([])
  })

  it('names no temporary path in its documents', () => {
    expect(documents.filter((path) => /(?<![\w.])\/tmp\//.test(read(path)))).to.deep.equal([])
  })

  it('reads the environment in one place', () => {
    const sources = Object.entries(readSources(['src', 'plugins']))
    const readers = sources.filter(([, source]) => ENVIRONMENT.test(withoutComments(source)))
    expect(readers.map(([path]) => path)).to.deep.equal(['src/support/env/environment.ts'])
  })
})

function leadsSomewhere(document: string, link: string): boolean {
  const [path, anchor] = link.split('#') as [string, string?]
  const target = path === '' ? document : posix.join(dirname(document), decodeURIComponent(path))
  if (!existsSync(join(ROOT, target))) return false
  return anchor === undefined || !target.endsWith('.md') || anchorsOf(read(target)).includes(anchor)
}

function namesMachine(line: string): boolean {
  return MACHINE_PATH.test(line) || REGISTRY.test(line)
}
