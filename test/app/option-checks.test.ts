import { expect } from 'chai'
import {
  createApp,
  createRouter,
  defineConfig,
  env,
  file,
  loadEnvFiles,
  loadRoutes,
  routerFor,
  scoped,
  singleton,
  StartupErrors,
} from 'mortar'
import { checkOptions, type OptionChecks } from 'mortar/kit'
import { startupErrorOf } from '../support/startup-error-of.ts'

type Take = (options: never) => unknown

const app = () => createApp({ logger: false })

/** Every public call with options, with an option of it, a near miss of that one, and a value of another type. */
const CALLS: Readonly<
  Record<string, { readonly take: Take; readonly near: object; readonly wrong: object }>
> = {
  'createRouter()': { take: createRouter, near: { prefx: '/' }, wrong: { prefix: 5 } },
  'routerFor()': { take: routerFor, near: { hiden: true }, wrong: { hidden: 'yes' } },
  'createApp()': { take: createApp, near: { trustProxi: 1 }, wrong: { signals: 'no' } },
  'defineConfig()': { take: defineConfig, near: { brick: [] }, wrong: { bricks: {} } },
  'openapi of createApp()': {
    take: (openapi) => createApp({ openapi }),
    near: { titel: 'x' },
    wrong: { title: 5 },
  },
  'server of createApp()': {
    take: (server) => createApp({ server }),
    near: { keepAliveTimout: 5 },
    wrong: { maxConnections: '5' },
  },
  'listen()': {
    take: (options) => app().listen(options),
    near: { prot: 0 },
    wrong: { port: '0', host: '127.0.0.1' },
  },
  'env.integer()': {
    take: (options) => env.integer('SIZE', options),
    near: { minn: 1, default: 1 },
    wrong: { min: '1', default: 1 },
  },
  'loadEnvFiles()': {
    take: (options) => loadEnvFiles(import.meta.dirname, options),
    near: { enviroment: 'test' },
    wrong: { variables: 'none' },
  },
  'file()': { take: file, near: { maxSise: 5 }, wrong: { types: 'image/png' } },
  'singleton()': {
    take: (options) => singleton(() => 1, options),
    near: { disposer: () => {} },
    wrong: { dispose: true },
  },
  'scoped()': {
    take: (options) => scoped(() => 1, options),
    near: { disposes: () => {} },
    wrong: { dispose: true },
  },
  'loadRoutes()': {
    take: (options) => loadRoutes(app(), import.meta.dirname, options),
    near: { importModules: () => ({}) },
    wrong: { importModule: 5 },
  },
}

describe('Options', () => {
  for (const [name, { take, near, wrong }] of Object.entries(CALLS)) {
    it(`of ${name} reject an unknown key and suggest the similar name`, async () => {
      const misspelt = await startupErrorOf(() => take(near as never))
      expect(misspelt.message)
        .to.contain(`'${Object.keys(near)[0]}'`)
        .and.to.contain('Did you mean')
      const unknown = await startupErrorOf(() => take({ zzzzzzzz: 1 } as never))
      expect(unknown.message).to.contain(`'zzzzzzzz'`).and.to.contain('The options are')
    })

    it(`of ${name} reject a value of another type without showing it`, async () => {
      const [key] = Object.keys(wrong)
      const error = await startupErrorOf(() => take(wrong as never))
      expect(error.message)
        .to.match(new RegExp(`\\b${key}\\b`))
        .and.to.match(/ not a/)
      for (const list of [[], 'x'])
        if (!name.startsWith('listen')) await startupErrorOf(() => take(list as never))
    })
  }

  it('may be undefined if that does not weaken security', () => {
    const nothing = undefined as never
    const router = createRouter({ prefix: nothing, tags: nothing, hidden: nothing }).get('/a', () => 1)
    expect(router.routes().map(({ path }) => path)).to.deep.equal(['/a'])
    const rest = { openapi: nothing, trustProxy: nothing, server: nothing }
    expect(() => createApp({ appUrl: nothing, logger: false, ...rest })).not.to.throw()
  })

  it('reports all wrong options together, without their values', async () => {
    const error = await startupErrorOf(() =>
      createApp({ appUrl: 5, signals: 'hunter2', lgger: false } as never),
    )
    expect(error).to.be.instanceOf(StartupErrors)
    expect((error as StartupErrors).errors.map(({ code }) => code)).to.deep.equal([
      'MORTAR_OPTION_UNKNOWN',
      'MORTAR_OPTION_TYPE',
      'MORTAR_OPTION_TYPE',
    ])
    expect(error.message).not.to.contain('hunter2')
  })
})

describe('A guard', () => {
  const SLIPS: readonly (readonly [string, object, string])[] = [
    ['undefined', { auth: undefined }, 'MORTAR_OPTION_UNDEFINED'],
    ['a variable that is not set', { auth: process.env['MORTAR_NOT_SET'] }, 'MORTAR_OPTION_UNDEFINED'],
    ['null', { auth: null }, 'MORTAR_OPTION_UNDEFINED'],
    ['inherited and undefined', Object.create({ auth: undefined }) as object, 'MORTAR_OPTION_UNDEFINED'],
    ['in capitals', { Auth: true }, 'MORTAR_OPTION_UNKNOWN'],
    ['misspelt', { auht: 'ok' }, 'MORTAR_OPTION_UNKNOWN'],
    ['called policy', { policy: 'ok' }, 'MORTAR_OPTION_UNKNOWN'],
    ['called guard', { guard: true }, 'MORTAR_OPTION_UNKNOWN'],
    ['called requireAuth', { requireAuth: true }, 'MORTAR_OPTION_UNKNOWN'],
    ['a number', { auth: 1 }, 'MORTAR_OPTION_TYPE'],
    ['an object', { auth: { policy: 'ok' } }, 'MORTAR_OPTION_TYPE'],
    ['a list with something else in it', { auth: ['ok', undefined] }, 'MORTAR_OPTION_TYPE'],
  ]
  for (const [name, options, code] of SLIPS)
    it(`of a router does not make it public when it is ${name}`, async () => {
      for (const make of [createRouter, routerFor] as readonly Take[]) {
        const error = await startupErrorOf(() => make(options as never))
        expect(error.code).to.equal(code)
        if (code === 'MORTAR_OPTION_UNKNOWN') expect(error.message).to.contain("Did you mean 'auth'?")
        expect(error.stack).to.contain('option-checks.test.ts')
      }
    })

  it('of a router does not make it public when it is inside a Map', async () => {
    const error = await startupErrorOf(() => createRouter(new Map([['auth', true]]) as never))
    expect(error.code).to.equal('MORTAR_OPTION_TYPE')
    expect(error.message).to.contain('The options of createRouter() are a Map, not an object.')
  })

  for (const auth of ['', []])
    it(`of a router prevents the start when it is ${JSON.stringify(auth)}`, async () => {
      const router = createRouter({ auth }).get('/', () => 'open')
      expect((await startupErrorOf(() => app().use(router).ready())).code).to.equal('MORTAR_ROUTE_AUTH_SHAPE')
    })

  it('option `credentials` of createApp() cannot be undefined', async () => {
    const error = await startupErrorOf(() => createApp({ credentials: undefined as never }))
    expect(error.code).to.equal('MORTAR_OPTION_UNDEFINED')
  })
})

describe('checkOptions', () => {
  interface ClockOptions {
    readonly zone?: string
    readonly readers?: string[]
    readonly format?: { readonly hours?: number }
  }
  const checks: OptionChecks<ClockOptions> = {
    of: 'clock()',
    brick: 'clock',
    keys: {
      zone: 'string',
      readers: { is: 'strings', guard: true },
      format: { is: 'object', keys: { hours: 'number' } },
    },
  }

  it('checks the options of other bricks, nested options included', async () => {
    checkOptions({}, checks)
    checkOptions(undefined, checks)
    checkOptions({ zone: 'UTC', readers: ['a'], format: { hours: 12 } }, checks)
    const error = await startupErrorOf(() => checkOptions({ format: { hour: 5 } } as never, checks))
    expect(error).to.include({ code: 'MORTAR_OPTION_UNKNOWN', brick: 'clock' })
    expect(error.message).to.contain("Unknown option 'hour' of format in clock().")
    const nothing = await startupErrorOf(() => checkOptions(null as never, checks))
    expect(nothing.message).to.contain('The options of clock() are null, not an object.')
    const guard = await startupErrorOf(() => checkOptions({ readers: undefined } as never, checks))
    expect(guard.code).to.equal('MORTAR_OPTION_UNDEFINED')
    const own = await startupErrorOf(() =>
      checkOptions<ClockOptions>({ zon: 'UTC' } as never, { ...checks, code: 'CLOCK' }),
    )
    expect(own.code).to.equal('CLOCK')
  })

  it('rejects a name of Object.prototype as an unknown option', async () => {
    for (const name of ['constructor', 'toString', '__proto__'])
      expect(
        (await startupErrorOf(() => checkOptions(JSON.parse(`{"${name}":1}`) as never, checks))).code,
      ).to.equal('MORTAR_OPTION_UNKNOWN')
  })
})

describe('file()', () => {
  for (const limit of ['maxSize', 'types'])
    it(`rejects an undefined ${limit}, which would accept every file`, async () => {
      const error = await startupErrorOf(() => file({ [limit]: undefined }))
      expect(error.code).to.equal('MORTAR_OPTION_UNDEFINED')
    })
})

describe('A route of a router', () => {
  it('rejects tags that are not a list, and joins lists', async () => {
    const wrong = createRouter({ tags: ['a'] }).get('/', { tags: 'notes' as never }, () => 1)
    expect((await startupErrorOf(() => app().use(wrong).ready())).code).to.equal('MORTAR_ROUTE_VALUE')
    const [route] = createRouter({ tags: ['a'] })
      .get('/', { tags: ['b'] }, () => 1)
      .routes()
    expect(route?.definition.tags).to.deep.equal(['a', 'b'])
  })
})
