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

describe('Middleware of another framework', () => {
  it('is named at the start if it has the parameters of Express', async () => {
    const { logger, warnings } = recorder()
    const withThree = (_req: unknown, _res: unknown, next: () => void): void => next()
    createApp({ logger, environment: 'development' }).use(withThree as never)
    expect(warnings).to.deep.equal([
      'app.use was given withThree with 3 parameters, but middleware gets (ctx, next): Express middleware (req, res, next) does not run here.',
    ])
  })
})

describe('A brick at its start', () => {
  it('is named with the service that nothing registers', async () => {
    const brick = defineBrick({ name: 'auth', start: (services) => void Reflect.get(services, 'db') })
    const error = await startupErrorOf(() => createApp({ logger: false, bricks: [brick] }).ready())
    expect(error.found).to.equal("The brick 'auth' needs the service 'db', which is not registered.")
    expect(error.code).to.equal('MORTAR_SERVICE_MISSING')
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
    const lifecycle = createLifecycle({ cradle: {} } as Container, logger, 1, 0.001)
    const starting = lifecycle.start([brick])
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
  const guarded = (verdict: boolean) => {
    const authenticator: Authenticator = {
      identify: () => user,
      securityScheme: { name: 'bearer', scheme: { type: 'http', scheme: 'bearer' } },
      policies: { admin: () => verdict },
    }
    const app = createApp({ logger: false }).provide({ authenticator: value(authenticator) })
    app.use(createRouter().get('/', { auth: 'admin' }, () => 'secret'))
    return app
  }

  it('says how to send a token that was sent without its scheme', async () => {
    const app = guarded(true)
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
