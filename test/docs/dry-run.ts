import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ROOT } from '../architecture/tree.ts'

interface Report {
  readonly tests: readonly { readonly title: string; readonly file: string }[]
  readonly pending: readonly { readonly title: string; readonly file: string }[]
}

/**
 * The tests that files declare, as `file › title`, both relative to `test/`. mocha loads the files and runs no test, so
 * titles that a loop makes are among them; skipped tests are not.
 */
export function declaredTests(files: readonly string[]): ReadonlySet<string> {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-titles-'))
  try {
    const output = join(folder, 'report.json')
    const mocha = join(ROOT, 'node_modules/mocha/bin/mocha.js')
    const reporter = ['--reporter', 'json', '--reporter-option', `output=${output}`]
    const paths = files.map((file) => join('test', file))
    execFileSync(process.execPath, [mocha, '--dry-run', ...reporter, ...paths], { cwd: ROOT, stdio: 'pipe' })
    const { tests, pending } = JSON.parse(readFileSync(output, 'utf8')) as Report
    const nameOf = ({ file, title }: Report['tests'][number]): string =>
      `${relative(join(ROOT, 'test'), file).replaceAll('\\', '/')} › ${title}`
    const left = tests.map(nameOf)
    // A skipped copy of a test (a server that is not there) does not hide the copy that runs.
    for (const skipped of pending.map(nameOf)) left.splice(left.indexOf(skipped), 1)
    return new Set(left)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
