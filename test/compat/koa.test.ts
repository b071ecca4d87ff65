import { execFile } from 'node:child_process'
import { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import Koa from 'koa'
import {
  bodyOf,
  findKoaFault,
  hasExplicitNull,
  hasExplicitStatus,
  readLater,
  setObject,
  takeJsonText,
} from '../../src/compat/koa.ts'
import { bundleScript } from '../support/bundle-script.ts'
import { changedModule } from '../support/changed-module.ts'

const FILE = createRequire(createRequire(import.meta.url).resolve('koa')).resolve('./response.js')

/** A Koa application whose responses come from a changed source. */
function doctored(change: (source: string) => string): Koa {
  const app = new Koa()
  app.response = Object.create(changedModule(FILE, change) as object) as typeof app.response
  return app
}

function contextOf(app: Koa): Koa.Context {
  const req = new IncomingMessage(undefined as never)
  return app.createContext(req, new ServerResponse(req))
}

const CHANGES: Record<string, [change: (source: string) => string, fault: string]> = {
  'another name for the value': [(source) => source.replaceAll('_body', '_content'), 'the value of ctx.body'],
  'another name for the mark of a status': [
    (source) => source.replaceAll('_explicitStatus', '_hasStatus'),
    'the mark of a status',
  ],
  'another name for the mark of null': [
    (source) => source.replaceAll('_explicitNullBody', '_isEmpty'),
    'the mark of an empty body',
  ],
}

describe('The private parts of Koa', () => {
  afterEach(() => takeJsonText(new Koa()))

  it('exist in the installed version', () => {
    expect(findKoaFault(new Koa())).to.equal(undefined)
    expect(findKoaFault(doctored((source) => `${source}\n// the next version`))).to.equal(undefined)
  })

  it('are used: JSON is parsed at the first read', () => {
    const app = new Koa()
    takeJsonText(app)
    const ctx = contextOf(app)
    ctx.status = 200
    setObject(ctx, readLater(ctx, '{"a":1}'))
    expect(bodyOf(ctx)).to.deep.equal({ text: '{"a":1}' })
    expect(ctx.body).to.deep.equal({ a: 1 })
  })

  for (const [name, [change, fault]] of Object.entries(CHANGES))
    it(`are replaced by Koa's interface, with one warning: ${name}`, async () => {
      const app = doctored(change)
      expect(findKoaFault(app)).to.equal(fault)
      const warnings: string[] = []
      const listen = (warning: Error & { code?: string }) => void warnings.push(warning.code!)
      process.on('warning', listen)
      takeJsonText(app)
      takeJsonText(app)
      await nextTurn()
      process.off('warning', listen)
      expect(warnings).to.deep.equal(['KOA_DIFFERS'])
      const ctx = contextOf(app)
      expect(hasExplicitStatus(ctx)).to.equal(false)
      setObject(ctx, readLater(ctx, '{"a":1}'))
      expect(bodyOf(ctx)).to.deep.equal({ a: 1 })
      expect(ctx.body).to.deep.equal({ a: 1 })
      ctx.body = { b: 2 }
      expect(bodyOf(ctx)).to.deep.equal({ b: 2 })
      ctx.status = 202
      expect(hasExplicitStatus(ctx)).to.equal(true)
      expect(hasExplicitNull(ctx)).to.equal(false)
      for (const status of [200, 404]) {
        const other = contextOf(app)
        other.status = status
        expect(hasExplicitStatus(other), `${status}`).to.equal(true)
      }
      const empty = contextOf(app)
      empty.body = null
      expect([hasExplicitNull(empty), empty.status]).to.deep.equal([true, 204])
    })
})

describe('A later version of Koa', () => {
  const script = join(import.meta.dirname, '../fixtures/compat/drifted-koa.ts')

  for (const [part, drift] of Object.entries({
    createHttpError: ['application', 'module\\.exports\\.createHttpError = ', 'void '],
    ctxStorage: ['application', '\\bctxStorage\\b', 'storage'],
    'app.proxy in its getters': ['request', '\\bthis\\.app\\.proxy\\b', 'this.app.trusts'],
    _body: ['response', '\\b_body\\b', '_content'],
    _explicitStatus: ['response', '\\b_explicitStatus\\b', '_hasStatus'],
    _explicitNullBody: ['response', '\\b_explicitNullBody\\b', '_isEmpty'],
  }))
    it(`sends the same responses with another ${part}`, async () => {
      const [file, ...change] = drift
      const args = [await bundleScript(script), `koa/lib/${file}\\.js$`, ...change]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      expect(JSON.parse(stdout)).to.deep.equal({
        changed: true,
        responses: {
          '/throw': '409',
          '/empty': '404',
          '/null': '204',
          '/current': '{"isKnown":true}',
          '/forwarded': 'https://outer.example',
        },
      })
    })
})
