import { readFileSync } from 'node:fs'
import Module from 'node:module'
import { expect } from 'chai'

/** Returns the exports of a CommonJS file with a changed source, as a later version of its package might have it. */
export function changedModule(file: string, change: (source: string) => string): unknown {
  const source = readFileSync(file, 'utf8')
  const changed = change(source)
  expect(changed, 'the change does something').not.to.equal(source)
  const made = new Module(file) as Module & {
    paths: string[]
    _compile(source: string, file: string): void
  }
  made.paths = (Module as unknown as { _nodeModulePaths(from: string): string[] })._nodeModulePaths(file)
  made.filename = file
  made._compile(changed, file)
  return made.exports
}
