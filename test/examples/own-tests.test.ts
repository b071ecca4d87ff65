import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { ROOT, listFiles } from '../architecture/tree.ts'

describe('The own tests of the reference application', () => {
  it('pass with the test runner of Node', async () => {
    const files = listFiles('examples/notes/test').filter((path) => path.endsWith('.test.ts'))
    expect(files.length).to.be.greaterThan(0)
    // Inside a test run of Node's own runner a nested one would run nothing.
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env
    const args = ['--import', 'tsx', '--conditions=source', '--test', '--test-reporter=tap', ...files]
    const run = promisify(execFile)(process.execPath, args, { cwd: ROOT, env })
    const { stdout } = await run.catch((failure: { stdout: string }) => failure)
    expect(stdout).to.match(/^# pass [1-9]\d*$/m)
    expect(stdout).to.match(/^# fail 0$/m)
  })
})
