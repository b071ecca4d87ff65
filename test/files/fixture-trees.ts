import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../fixtures/routes')

/** A file of one line, or a link. */
export type Created = string | { readonly link: string; readonly to: string }

/** One tree of route files with its `expected.json`. */
export interface FixtureTree<Expected> {
  readonly name: string
  readonly expected: Expected
  /**
   * Calls `work` with the directory. Names that git or some file systems cannot hold (`expected.json` lists them under
   * `create`) are written into a copy, which is gone afterwards.
   */
  open(work: (directory: string) => Promise<void>): Promise<void>
}

/** The trees under `test/fixtures/routes/<kind>`. */
export function fixtureTrees<Expected>(kind: 'broken' | 'good'): FixtureTree<Expected>[] {
  return readdirSync(join(ROOT, kind)).map((name) => {
    const directory = join(ROOT, kind, name)
    const expected = JSON.parse(readFileSync(join(directory, 'expected.json'), 'utf8')) as Expected & {
      create?: Created[]
    }
    const { create } = expected
    return {
      name,
      expected,
      open: (work) => (create ? withTree(create, work, directory) : work(directory)),
    }
  })
}

/** Calls `work` with a new directory that holds the given files (and those of `source`), and removes it afterwards. */
export async function withTree(
  created: readonly Created[],
  work: (directory: string) => Promise<void>,
  source?: string,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-routes-'))
  try {
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }\n')
    if (source) cpSync(source, directory, { recursive: true })
    for (const entry of created) writeEntry(directory, entry)
    await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function writeEntry(directory: string, entry: Created): void {
  const path = join(directory, typeof entry === 'string' ? entry : entry.link)
  mkdirSync(dirname(path), { recursive: true })
  if (typeof entry === 'string') writeFileSync(path, "export default () => 'ok'\n")
  else symlinkSync(entry.to, path)
}
