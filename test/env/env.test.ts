import { expect } from 'chai'
import { StartupError, StartupErrors } from '../../src/errors/startup-error.ts'
import { type Env, env } from '../../src/support/env/env.ts'

const VALUES = 'text integer number port boolean url list duration bytes colour secret'.split(' ')

const GOOD: Record<string, string> = {
  text: ' kept as it is ',
  integer: '-12',
  number: '1.5e2',
  port: '8080',
  boolean: 'Yes',
  url: 'postgres://user@host:5432/app',
  list: 'a, b,,c ',
  duration: '15m',
  bytes: '2kb',
  colour: 'red',
  secret: 's3cret value',
}

const BAD: Record<string, string> = {
  integer: '1.5',
  number: 'Infinity',
  port: '65536',
  boolean: 'maybe',
  url: 'no-scheme.invalid',
  list: ' , ',
  duration: '15 minutes',
  bytes: '-1',
  colour: 'crimson',
  secret: '   ',
}

const READ: Record<string, (from: Env, name: string) => unknown> = {
  text: (from, name) => from.string(name),
  integer: (from, name) => from.integer(name),
  number: (from, name) => from.number(name),
  port: (from, name) => from.port(name),
  boolean: (from, name) => from.boolean(name),
  url: (from, name) => from.url(name),
  list: (from, name) => from.list(name),
  duration: (from, name) => from.duration(name),
  bytes: (from, name) => from.bytes(name),
  colour: (from, name) => from.oneOf(name, ['red', 'green']),
  secret: (from, name) => from.secret(name),
}

function thrownBy(act: () => unknown): StartupError {
  try {
    act()
  } catch (error) {
    expect(error).to.be.instanceOf(StartupError)
    return error as StartupError
  }
  throw new Error('nothing was thrown')
}

describe('env', () => {
  it('reads a value of each kind', () => {
    const read = VALUES.map((name) => READ[name]!(env.from(GOOD), name))
    expect(read).to.deep.equal([
      ' kept as it is ',
      -12,
      150,
      8080,
      true,
      'postgres://user@host:5432/app',
      ['a', 'b', 'c'],
      900,
      2048,
      'red',
      's3cret value',
    ])
  })

  for (const name of Object.keys(BAD))
    it(`refuses a wrong ${name} by name, without its value`, () => {
      const error = thrownBy(() => READ[name]!(env.from(BAD), name))
      expect(error.code).to.equal('MORTAR_ENV')
      expect(error.message).to.include(`The environment variable ${name} is not `)
      if (BAD[name]!.trim().length > 1) expect(error.message).not.to.include(BAD[name]!)
      expect(error.remedy).to.include(`such as ${name}=`)
    })

  for (const name of VALUES)
    it(`treats an empty ${name} as not set`, () => {
      const error = thrownBy(() => READ[name]!(env.from({ [name]: '' }), name))
      expect(error.message).to.include(`${name} is not set`)
    })

  it('reads plain numbers as seconds and as bytes', () => {
    const from = env.from({ AGE: '90', SIZE: '512' })
    expect([from.duration('AGE'), from.bytes('SIZE')]).to.deep.equal([90, 512])
  })

  it('uses the default, in plain units, if a variable is not set', () => {
    const from = env.from({})
    expect(from.port('PORT', { default: 3000 })).to.equal(3000)
    expect(from.boolean('FLAG', { default: false })).to.equal(false)
    expect(from.duration('AGE', { default: '15m' })).to.equal(900)
    expect(from.bytes('SIZE', { default: '1mb' })).to.equal(1_048_576)
  })

  it('returns undefined for an optional variable that is not set', () => {
    const from = env.from({})
    expect(from.string('A', { optional: true })).to.equal(undefined)
    expect(from.duration('A', { optional: true })).to.equal(undefined)
    expect(from.secret('A', { optional: true })).to.equal(undefined)
  })

  it('never replaces a wrong value by the default', () => {
    expect(thrownBy(() => env.from({ PORT: 'x' }).port('PORT', { default: 1 })).message).to.include('PORT')
  })

  it('checks numbers against their bounds', () => {
    const from = env.from({ LOW: '1', HIGH: '9' })
    const range = { min: 2, max: 8 }
    expect(thrownBy(() => from.integer('LOW', range)).message).to.include('an integer from 2 to 8')
    expect(thrownBy(() => from.number('HIGH', range)).message).to.include('a number from 2 to 8')
  })

  it('rejects an integer that JavaScript cannot represent', () => {
    thrownBy(() => env.from({ ID: '9007199254740993' }).integer('ID'))
  })

  it('rejects a URL with another protocol', () => {
    const from = env.from({ APP_URL: 'ftp://example.com' })
    const error = thrownBy(() => from.url('APP_URL', { protocols: ['http', 'https'] }))
    expect(error.message).to.include('an absolute URL with http or https')
  })

  it('reads process.env if no other variables are given', () => {
    expect(env.string('NODE_ENV')).to.equal('test')
  })
})

describe('A variable that production requires', () => {
  const options = { default: 'sqlite:a.db', requiredInProduction: true } as const

  it('shows its default as an example, if a shell takes that unquoted', () => {
    const from = env.from({ NODE_ENV: 'production' })
    const remedyOf = (given: string) => {
      try {
        return from.string('A', { default: given, requiredInProduction: true })
      } catch (error) {
        return (error as StartupError).remedy
      }
    }
    expect(remedyOf('sqlite:a.db')).to.match(/such as A=sqlite:a\.db$/)
    expect(remedyOf('Ada <ada@example.com>')).to.match(/such as A=value$/)
    expect(remedyOf('/srv/app/dist/data'), 'a path of this machine').to.match(/such as A=\/path$/)
    expect(remedyOf('C:/app/dist/data'), 'a path of this machine').to.match(/such as A=\/path$/)
  })

  it('shows a command for a secret, and that .env takes its output: nothing expands it there', () => {
    const hint = `="$(openssl rand -base64 32)" in a shell. In .env, write the output of the command`
    for (const read of [env.from({}).secret, env.from({}).secrets])
      for (const rules of [{}, { strong: true }] as const)
        expect(() => read('KEY', rules)).to.throw(StartupError, `such as KEY${hint}`)
  })

  it('shows the given example', () => {
    const from = env.from({ NODE_ENV: 'production' })
    for (const example of ['smtp://user:password@mail.example.com:587', '/var/lib/app'])
      expect(() => from.string('MAIL', { optional: true, requiredInProduction: true, example })).to.throw(
        `such as MAIL=${example}`,
      )
  })

  it('has its default elsewhere', () => {
    for (const mode of [undefined, 'development', 'test'])
      expect(env.from({ NODE_ENV: mode }).string('DATABASE_URL', options)).to.equal('sqlite:a.db')
    const optional = { optional: true, requiredInProduction: true } as const
    expect(env.from({}).string('DATABASE_URL', optional)).to.equal(undefined)
    expect(env.from({}).duration('WAIT', { default: '1m', requiredInProduction: true })).to.equal(60)
  })

  it('has none in production, nor in a mode that does not exist', () => {
    for (const mode of ['production', 'Production', 'prod']) {
      const from = env.from({ NODE_ENV: mode })
      for (const read of [
        () => from.string('A', options),
        () => from.string('A', { optional: true, requiredInProduction: true }),
        () => from.secret('A', { optional: true, requiredInProduction: true }),
        () => from.duration('A', { default: '1m', requiredInProduction: true }),
      ])
        expect(thrownBy(read).message).to.contain('A is not set')
    }
  })
})

describe('A list of secrets or addresses', () => {
  const STRONG = 'Zk3vQ9xL0pWm7RtY5uBn2cHd8fGj1aSeQ4oTi6yUzXs'

  it('is read as trimmed items', () => {
    const from = env.from({ KEYS: 'one, two', FROM: '10.0.0.0/8, ::1' })
    expect(from.secrets('KEYS')).to.deep.equal(['one', 'two'])
    expect(from.addresses('FROM')).to.deep.equal(['10.0.0.0/8', '::1'])
    expect(from.secrets('NONE', { optional: true })).to.equal(undefined)
  })

  it('refuses an item of another kind without showing it', () => {
    const from = env.from({ FROM: '10.0.0.1,proxy.internal' })
    expect(thrownBy(() => from.addresses('FROM')).message)
      .to.contain('FROM is not a list of IP addresses')
      .and.not.to.contain('proxy.internal')
  })

  it('refuses a weak secret in production if it must be strong', () => {
    const from = (mode: string) =>
      env.from({ NODE_ENV: mode, WEAK: 'hunter2', KEYS: `${STRONG},hunter2`, GOOD: STRONG })
    expect(from('development').secret('WEAK', { strong: true })).to.equal('hunter2')
    expect(from('production').secret('WEAK')).to.equal('hunter2')
    expect(from('production').secret('GOOD', { strong: true })).to.equal(STRONG)
    for (const read of [
      () => from('production').secret('WEAK', { strong: true }),
      () => from('production').secrets('KEYS', { strong: true }),
    ])
      expect(thrownBy(read).message).to.contain('32 bytes').and.not.to.contain('hunter2')
  })
})

describe('env.all', () => {
  it('returns the result of the callback', () => {
    const config = env.from({ PORT: '1' }).all((read) => ({ port: read.port('PORT') }))
    expect(config).to.deep.equal({ port: 1 })
  })

  it('reports every problem in one error', () => {
    const from = env.from({ PORT: 'x', FLAG: 'y' })
    const error = thrownBy(() =>
      from.all((read) => [read.port('PORT'), read.boolean('FLAG'), read.secret('AUTH_SECRET')]),
    )
    expect(error).to.be.instanceOf(StartupErrors)
    expect(error.message).to.include('PORT').and.include('FLAG').and.include('AUTH_SECRET')
  })

  it('throws a single problem unchanged', () => {
    expect(thrownBy(() => env.from({}).all((read) => read.port('PORT'))).code).to.equal('MORTAR_ENV')
  })

  it('reports the missing value when the callback fails because of it', () => {
    const error = thrownBy(() => env.from({}).all((read) => read.string('HOSTS').split(',')))
    expect(error.message).to.include('HOSTS is not set')
  })

  it("rethrows the callback's own error", () => {
    const act = () =>
      env.from({}).all(() => {
        throw new RangeError('mine')
      })
    expect(act).to.throw(RangeError, 'mine')
  })
})
