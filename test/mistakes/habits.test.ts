import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { EntitySchema, type DataSource } from 'typeorm'
import { createApp, createRouter, defineBrick, loadEnvFiles, value } from 'mortar'
import type { App, Authenticator, Logger, User } from 'mortar'
import { database } from '@mortar/database'
import { createLifecycle } from '../../src/app/life/lifecycle.ts'
import type { Container } from '../../src/container/container.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'
import { withRoutes } from './folder-of-routes.ts'

/** A logger that keeps its warnings. */
function recorder(): { readonly logger: Logger; readonly warnings: string[] } {
  const warnings: string[] = []
  const write = (): void => undefined
  const warn = (given: object | string, text?: string): void =>
    void warnings.push(typeof given === 'string' ? given : (text ?? ''))
  const logger: Logger = { debug: write, info: write, error: write, warn, child: () => logger }
  return { logger, warnings }
}

const detailOf = async (app: App<object, object>, headers: Record<string, string> = {}): Promise<string> =>
  (await app.inject({ method: 'GET', url: '/', headers })).json().detail as string

describe('An .env file of another editor', () => {
  const read = (content: string | Buffer): object => {
    const folder = mkdtempSync(join(tmpdir(), 'mortar-env-'))
    try {
      writeFileSync(join(folder, '.env'), content)
      const variables = {}
      loadEnvFiles(folder, { variables })
      return variables
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  it('may begin with a byte order mark and have the line ends of Windows', () => {
    expect(read('\ufeffAUTH_SECRET=abc\r\nPORT="1"\r\n')).to.deep.equal({ AUTH_SECRET: 'abc', PORT: '1' })
  })

  it('is named if it is in UTF-16, as Windows PowerShell writes it', async () => {
    const error = await startupErrorOf(() => read(Buffer.from('\ufeffA=1\n', 'utf16le')))
    expect(error.found).to.equal('The environment file .env is not in UTF-8.')
    expect(error.remedy).to.match(/^Save it as UTF-8/)
  })

  it('is named with the line that would take the next variable with it', async () => {
    const error = await startupErrorOf(() => read('A=1\r\n\r\nB: secret\r\nC=2\r\n'))
    expect(error.found).to.equal('The environment file .env has no NAME=value in line 3.')
    expect(error.message).to.not.include('secret')
  })
})

describe('An import of a route file that cannot be right', () => {
  const OK = 'export default () => 1\n'
  for (const [name, source, remedy] of [
    [
      'a name that a package does not export',
      `import { Router } from 'mortar'\n${OK}`,
      /^Correct the import\./,
    ],
    [
      'a path that a package does not export',
      `import 'yup/nothing'\n${OK}`,
      /^Correct the import: "exports"/,
    ],
    ['an alias of tsconfig.json', `import '@/notes'\n${OK}`, /^Write a relative path, .*`paths`/],
    ['module.exports', `module.exports = () => 1\n`, /^Write `export default`/],
    ['require', `require('node:fs')\n${OK}`, /^Write `import name from '…'`/],
    ['__dirname', `console.log(__dirname)\n${OK}`, /^Write `import\.meta\.dirname`/],
    [
      'a circle of routes',
      `import { b } from './b.get.js'\nexport const a = b\n${OK}`,
      /^If modules import each other in a circle, move what they share/,
    ],
  ] as const)
    it(`has a remedy of its own: ${name}`, async () => {
      const error = await startupErrorOf(() =>
        withRoutes(
          {
            'routes/a.get.js': source,
            'routes/b.get.js': `import { a } from './a.get.js'\nexport const b = a\n${OK}`.slice(
              name.includes('circle') ? 0 : `import { a } from './a.get.js'\nexport const b = a\n`.length,
            ),
            'node_modules/mortar/package.json': '{ "name": "mortar", "type": "module", "exports": "./a.js" }',
            'node_modules/mortar/a.js': 'export const a = 1\n',
            'node_modules/yup/package.json': '{ "name": "yup", "exports": { ".": "./a.js" } }',
          },
          async () => undefined,
        ),
      )
      expect(error.found).to.include('routes/a.get.js')
      expect(error.remedy).to.match(remedy)
    })
})

describe('Middleware of another framework', () => {
  it('is named at the start if it has the parameters of Express', async () => {
    const { logger, warnings } = recorder()
    const withThree = (_req: unknown, _res: unknown, next: () => void): void => next()
    createApp({ logger, environment: 'development' }).use(withThree as never)
    expect(warnings).to.deep.equal([
      'app.use was given withThree with 3 parameters, but middleware gets (ctx, next): Express middleware (req, res, next) does not run here.',
    ])
  })

  it('is named with fromKoa() if Koa middleware reads a member that only Koa has', async () => {
    for (const name of ['vary', 'req', 'res', 'request', 'response']) {
      const app = createApp({ logger: false, environment: 'development' })
      app.use((ctx, next) => [Reflect.get(ctx, name), next()][1])
      expect(await detailOf(app), name).to.include(`ctx.${name} does not exist. `)
      expect(await detailOf(app), name).to.include('Koa middleware goes through fromKoa().')
      await app.close()
    }
  })
})

describe('A brick at its start', () => {
  it('is named with the service that nothing registers', async () => {
    const brick = defineBrick({ name: 'auth', start: (services) => void Reflect.get(services, 'db') })
    const error = await startupErrorOf(() => createApp({ logger: false, bricks: [brick] }).ready())
    expect(error.found).to.equal("The brick 'auth' needs the service 'db', which is not registered.")
    expect(error).to.include({ code: 'MORTAR_SERVICE_MISSING', brick: 'auth' })
    expect(error.cause).to.be.instanceOf(Error)
  })

  it('is named if it does not end, and the start waits', async () => {
    const { logger, warnings } = recorder()
    let finish: (() => void) | undefined
    const brick = defineBrick({
      name: 'slow',
      start: () =>
        new Promise<void>((done) => {
          finish = done
        }),
    })
    const process = { servesRequests: true, stopping: new AbortController().signal }
    const lifecycle = createLifecycle({ cradle: {} } as Container, logger, 1, 0.001)
    const starting = lifecycle.start([brick], process)
    while (warnings.length === 0) await setTimeout(1)
    expect(warnings[0]).to.match(
      /^The brick 'slow' is still starting after 0\.001 s: the promise of its start\(\)/,
    )
    finish?.()
    await starting
  })
})

describe('A guard', () => {
  const user: User = { id: '1', raw: {} }
  const guarded = (verdict: unknown, environment: 'development' | 'production' = 'development') => {
    const { logger, warnings } = recorder()
    const authenticator: Authenticator = {
      identify: () => user,
      securityScheme: { name: 'bearer', scheme: { type: 'http', scheme: 'bearer' } },
      policies: { admin: () => verdict as boolean },
    }
    const app = createApp({ logger, environment }).provide({ authenticator: value(authenticator) })
    app.use(createRouter().get('/', { auth: 'admin' }, () => 'secret'))
    return { app, warnings }
  }

  it('warns once of a policy whose verdict is neither true nor false, and denies', async () => {
    for (const [verdict, described] of [
      ['yes', 'a string'],
      [undefined, 'undefined'],
      [Promise.resolve(1), 'a number'],
    ] as const) {
      const { app, warnings } = guarded(verdict)
      for (let times = 0; times < 2; times++)
        expect(await detailOf(app, { authorization: 'Bearer x' })).to.equal(
          "The policy 'admin' does not allow this.",
        )
      expect(warnings.filter((line) => line.includes('policy'))).to.deep.equal([
        `The policy 'admin' returned ${described}, not true or false, so it denies. Is a \`return\` missing? Write \`=== true\` or Boolean(…) where a value means yes.`,
      ])
      await app.close()
    }
    for (const { app, warnings } of [guarded(false), guarded('yes', 'production')]) {
      await detailOf(app, { authorization: 'Bearer x' })
      expect(warnings.join('\n')).to.not.include('policy')
      await app.close()
    }
  })

  it('says how to send a token that was sent without its scheme', async () => {
    const { app } = guarded(true)
    expect(await detailOf(app, { authorization: 'abc.def.ghi' })).to.equal(
      "Sign in to do this: the header Authorization has no scheme. Write 'Authorization: Bearer TOKEN'.",
    )
    for (const authorization of ['', 'Bearer', 'Basic abc'])
      expect(await detailOf(app, { authorization })).to.equal('Sign in to do this.')
    await app.close()
  })
})

describe('An entity that is not among the entities of the database', () => {
  it('is named with the remedy', async () => {
    const Posts = new EntitySchema({ name: 'posts', columns: { id: { type: Number, primary: true } } })
    const app = createApp({ logger: false, environment: 'development' }).use(
      database({ type: 'better-sqlite3', database: ':memory:', entities: [] }),
    )
    app.use(
      createRouter().get('/', {}, (ctx) =>
        (Reflect.get(ctx, 'db') as DataSource).getRepository(Posts).find(),
      ),
    )
    expect(await detailOf(app)).to.match(
      /^The entity posts is not among the `entities` of database\(\)\. Export/,
    )
    await app.close()
  })
})
