import Mocha from 'mocha'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The globals of the runner of a run, which the runner of another run would replace. */
const GLOBALS = [
  'describe',
  'context',
  'it',
  'specify',
  'before',
  'after',
  'beforeEach',
  'afterEach',
  'run',
  'xdescribe',
  'xcontext',
  'xit',
  'xspecify',
]

/** Result of a run of tests: the names of the tests that passed, and the errors of the others. */
export interface OwnTests {
  readonly passed: readonly string[]
  readonly failed: readonly Error[]
}

/** Runs test files of an application as its `npm test` does, with the hooks of its `test/setup.ts`, in this process. */
export async function runOwnTests(directory: string, paths: readonly string[]): Promise<OwnTests> {
  const saved = GLOBALS.map((name) => [name, Reflect.get(globalThis, name) as unknown] as const)
  const passed: string[] = []
  const failed: Error[] = []
  try {
    const setup = pathToFileURL(join(directory, 'test/setup.ts')).href
    const { mochaHooks } = (await import(setup)) as { mochaHooks: Mocha.RootHookObject }
    const mocha = new Mocha({
      // It writes nothing.
      reporter: Mocha.reporters.Base,
      timeout: 120_000,
      rootHooks: mochaHooks,
    })
    for (const path of paths) mocha.addFile(join(directory, path))
    await mocha.loadFilesAsync()
    await new Promise<void>((done) => {
      const runner = mocha.run(() => done())
      runner.on('pass', (test) => void passed.push(test.fullTitle()))
      runner.on('fail', (_, error: Error) => void failed.push(error))
    })
    // Its listeners of the process.
    mocha.dispose()
  } finally {
    for (const [name, value] of saved) Reflect.set(globalThis, name, value)
  }
  return { passed, failed }
}
