import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadEnvFiles } from '../../src/support/env/env-files.ts'
import { readEnvironment, threadPoolSize } from '../../src/support/env/environment.ts'

describe('loadEnvFiles', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'mortar-env-'))
  })

  afterEach(() => {
    rmSync(directory, { recursive: true })
  })

  function write(files: Record<string, string>): void {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  }

  it('prefers the real environment, then the files of the machine, then of the mode, then .env', () => {
    write({
      '.env': 'A=base\nB=base\nC=base\nD=base',
      '.env.development': 'A=mode\nB=mode\nC=mode',
      '.env.local': 'A=local\nB=local',
    })
    const variables = { A: 'real' }
    const read = loadEnvFiles(directory, { variables })
    expect(variables).to.deep.equal({ A: 'real', B: 'local', C: 'mode', D: 'base' })
    expect(read).to.deep.equal(['.env.local', '.env.development', '.env'])
  })

  it('leaves .env.local out under test', () => {
    write({ '.env': 'A=base', '.env.local': 'A=local' })
    const variables = { NODE_ENV: 'test' }
    expect(loadEnvFiles(directory, { variables })).to.deep.equal(['.env'])
    expect(variables).to.deep.equal({ NODE_ENV: 'test', A: 'base' })
  })

  it('reads NODE_ENV from .env', () => {
    write({ '.env': 'NODE_ENV=production', '.env.production': 'A=mode' })
    const variables = {}
    loadEnvFiles(directory, { variables })
    expect(variables).to.deep.equal({ NODE_ENV: 'production', A: 'mode' })
  })

  it('refuses a last line without =, with or without a line break after it', () => {
    for (const end of ['', '\n', '\r\n']) {
      write({ '.env': `A=1\nAUTH_SECRET${end}` })
      expect(() => loadEnvFiles(directory, { variables: {} })).to.throw(/has no NAME=value in line 2/)
    }
    write({ '.env': 'A=1\n# AUTH_SECRET' })
    const variables = {}
    loadEnvFiles(directory, { variables })
    expect(variables).to.deep.equal({ A: '1' })
  })

  it('keeps a variable that is set to an empty string', () => {
    write({ '.env': 'A=base' })
    const variables = { A: '' }
    loadEnvFiles(directory, { variables })
    expect(variables).to.deep.equal({ A: '' })
  })

  it('reads quotes, comments and lines with export', () => {
    write({ '.env': '# note\nA="with # and space"\nexport B=plain # note\n' })
    const variables = {}
    loadEnvFiles(directory, { variables })
    expect(variables).to.deep.equal({ A: 'with # and space', B: 'plain' })
  })

  it('skips missing files', () => {
    expect(loadEnvFiles(directory, { variables: {} })).to.deep.equal([])
  })

  it('refuses a file that cannot be read, by name', () => {
    mkdirSync(join(directory, '.env'))
    expect(() => loadEnvFiles(directory, { variables: {} })).to.throw(
      'The environment file .env cannot be read',
    )
  })
})

describe('threadPoolSize', () => {
  for (const [text, size] of [
    [undefined, 4],
    ['', 1],
    ['0', 1],
    ['1', 1],
    ['16', 16],
    [' 8 threads', 8],
    ['many', 1],
    ['4096', 1024],
  ] as const)
    it(`is ${size} for ${JSON.stringify(text)}`, () => {
      expect(threadPoolSize({ UV_THREADPOOL_SIZE: text })).to.equal(size)
    })
})

describe('readEnvironment', () => {
  for (const [value, mode] of [
    ['production', 'production'],
    [' Production ', 'production'],
    ['test', 'test'],
    ['development', 'development'],
    ['staging', 'development'],
    [undefined, 'development'],
  ] as const)
    it(`reads ${value ?? 'no value'} as ${mode}`, () => {
      expect(readEnvironment({ NODE_ENV: value })).to.equal(mode)
    })
})
