import { execFile } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../architecture/tree.ts'
import { followGuide } from '../guides/guide-files.ts'
import { type Files, newApplication } from '../guides/new-application.ts'
import { readBlocks, type Block } from './read-blocks.ts'

const WORLD = join(ROOT, 'test/fixtures/documents')
const GUIDES = 'docs/guides/'
const GLOBALS = 'globals.d.ts'
const SETTINGS = {
  extends: '../../tsconfig.json',
  compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
}

/**
 * Compiles blocks of TypeScript as a reader would have them: each document is an application in a folder of its own. A
 * block that begins with `// path/of/file.ts` is that file; what a document does not show comes from
 * `test/fixtures/documents`, and for a guide from a new application that it changes. Names that a fragment uses without importing them are those of its `globals.d.ts`.
 * @returns the messages of the compiler, with each place in its document.
 */
export async function typeCheckSnippets(blocks: readonly Block[]): Promise<string[]> {
  mkdirSync(join(ROOT, 'data'), { recursive: true })
  const directory = mkdtempSync(join(ROOT, 'data/snippets-'))
  try {
    const files = new Map<string, Block>()
    for (const block of blocks) files.set(write(directory, block), block)
    for (const document of new Set(blocks.map(({ file }) => file))) {
      const folder = join(directory, folderOf(document))
      if (document.startsWith(GUIDES)) addApplication(folder, document, await newApplication())
      else addWorld(folder)
    }
    // The globals are the same for all documents, even if a document declares its own `app`.
    cpSync(WORLD, join(directory, 'world'), { recursive: true })
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ ...SETTINGS, include: ['.'], exclude: [] }),
    )
    const complaints = await compile(directory)
    return complaints.map((complaint) => locate(complaint, files))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function write(directory: string, block: Block): string {
  const folder = join(directory, folderOf(block.file))
  const named = /^\/\/ ([\w./[\]-]+\.tsx?)(?::.*)?\s*$/m.exec(block.code.split('\n')[0]!)?.[1]
  const file = join(folder, named ?? `block-${block.line}.ts`)
  if (existsSync(file)) throw new Error(`${block.file}:${block.line} shows ${named} a second time.`)
  mkdirSync(dirname(file), { recursive: true })
  // Without an import or export a file would share its names with all others.
  writeFileSync(file, `${block.code}\nexport {}\n`)
  return relative(ROOT, file)
}

function folderOf(document: string): string {
  return document.replaceAll(/[/.]/g, '-')
}

function addApplication(folder: string, document: string, application: Files): void {
  const files = followGuide(application, readBlocks(document))
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path)
    if (!path.endsWith('.ts') || existsSync(file)) continue
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
}

function addWorld(folder: string): void {
  for (const name of readdirSync(WORLD))
    if (name !== GLOBALS && !existsSync(join(folder, name)))
      copyFileSync(join(WORLD, name), join(folder, name))
}

async function compile(directory: string): Promise<string[]> {
  const compiler = join(ROOT, 'node_modules/.bin/tsc')
  const run = promisify(execFile)(compiler, ['--project', directory, '--pretty', 'false'], { cwd: ROOT })
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  return stdout.split('\n').filter((line) => line.trim() !== '')
}

/** `data/snippets-x/README-md/app.ts(3,1): error …` becomes `README.md:41: error …`. */
function locate(complaint: string, files: ReadonlyMap<string, Block>): string {
  const match = /^(?<file>.+?)\((?<line>\d+),\d+\)(?<rest>.*)$/.exec(complaint)?.groups
  const block = match && files.get(match['file']!)
  return block ? `${block.file}:${block.line + Number(match['line'])}${match['rest']}` : complaint
}
