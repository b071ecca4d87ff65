import { createRequire } from 'node:module'
import { Router } from '@koa/router'
import { expect } from 'chai'
import { fromKoaRouter, type KoaRouter } from 'mortar'
import { showsLayers } from '../../src/compat/koa-router.ts'
import { changedModule } from '../support/changed-module.ts'

const FILE = createRequire(import.meta.url).resolve('@koa/router')

/** A router of a later version, which has renamed a part. */
function routerWith(change: (source: string) => string): KoaRouter {
  const later = changedModule(FILE, change) as { Router: new () => KoaRouter }
  return new later.Router()
}

const CHANGES: Readonly<Record<string, (source: string) => string>> = {
  methods: (source) => source.replaceAll(/\b(this|layer|route|l)\.methods\b/g, '$1.verbs'),
  path: (source) => source.replaceAll(/\bthis\.path\b/g, 'this.route'),
  opts: (source) => source.replaceAll(/\bthis\.opts\b/g, 'this.settings'),
  match: (source) => source.replaceAll(/\bpathAndMethod\b/g, 'byMethod'),
  end: (source) => source.replaceAll(/\bend: options\.end\b/g, 'whole: options.end'),
  sensitive: (source) => source.replaceAll(/\bsensitive: /g, 'caseSensitive: '),
  pathAsRegExp: (source) => source.replaceAll(/\bpathAsRegExp: /g, 'isPattern: '),
}

describe('The layers of @koa/router', () => {
  it('are as expected in the installed version, and in a class with other arguments', () => {
    expect(showsLayers(new Router())).to.equal(true)
    class Own extends Router {
      constructor(options: { readonly prefix: string }) {
        super({ prefix: options.prefix.toLowerCase() })
      }
    }
    expect(showsLayers(new Own({ prefix: '/A' }))).to.equal(true)
  })

  for (const [part, change] of Object.entries(CHANGES))
    it(`stop the start of a version with another ${part}`, () => {
      const router = routerWith(change)
      expect(() => fromKoaRouter(router)).to.throw(/MORTAR_(KOA_ROUTER|USE)/)
    })
})
