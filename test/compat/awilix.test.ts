import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as Awilix from 'awilix/browser'
import { asFunction, AwilixResolutionError, createContainer } from 'awilix/browser'
import { expect } from 'chai'
import { checkAwilix, readResolution } from '../../src/compat/awilix.ts'
import { StartupError } from 'mortar'
import { explainResolution } from '../../src/container/explain-resolution.ts'

type Needs = Record<string, unknown>

function failureOf(register: Parameters<ReturnType<typeof createContainer>['register']>[0], name: string) {
  try {
    createContainer({ strict: true }).register(register).resolve(name)
  } catch (error) {
    return readResolution(error)
  }
  throw new Error('It was resolved.')
}

/** A copy of awilix with other words, as a later version may have them. */
async function withOtherWords(before: string, after: string) {
  const file = createRequire(import.meta.url)
    .resolve('awilix')
    .replace('awilix.js', 'awilix.browser.mjs')
  const source = readFileSync(file, 'utf8')
  const changed = source.replaceAll(before, after)
  expect(changed, 'the change applies').to.not.equal(source)
  return import(`data:text/javascript,${encodeURIComponent(changed)}`) as Promise<typeof Awilix>
}

describe('The message of awilix about a failed resolution', () => {
  it('names the missing service and the path to it', () => {
    const services = {
      shop: asFunction(({ stock }: Needs) => stock),
      stock: asFunction(({ file }: Needs) => file),
    }
    expect(failureOf(services, 'shop')).to.deep.equal({
      kind: 'missing',
      missing: 'file',
      path: 'shop → stock → file',
      isNested: true,
    })
    expect(failureOf({}, 'file')).to.deep.include({ kind: 'missing', missing: 'file', isNested: false })
  })

  it('names a circle', () => {
    const services = { a: asFunction(({ b }: Needs) => b), b: asFunction(({ a }: Needs) => a) }
    expect(failureOf(services, 'a')).to.deep.include({ kind: 'circular', path: 'a → b → a' })
  })

  it('names a lifetime that is too short', () => {
    const services = { a: asFunction(({ b }: Needs) => b).singleton(), b: asFunction(() => 1).scoped() }
    expect(failureOf(services, 'a')).to.deep.include({ kind: 'lifetime', path: 'a → b' })
  })

  it('is not parsed when a factory threw it', () => {
    expect(readResolution(new Error("Could not resolve 'x'."))).to.equal(undefined)
  })

  for (const [before, after] of [
    ['Could not resolve', 'Unable to resolve'],
    ['Resolution path:', 'Resolved by:'],
    ['shorter lifetime', 'briefer life'],
    ['Cyclic', 'Circular'],
  ] as const)
    it(`says the reason in its own words when a later version writes '${after}'`, async () => {
      const later = await withOtherWords(before, after)
      const failing = {
        a: later.asFunction(({ b }: Needs) => b),
        b: later.asFunction(({ a }: Needs) => a),
        old: later.asFunction(({ young }: Needs) => young).singleton(),
        young: later.asFunction(() => 1).scoped(),
        shop: later.asFunction(({ file }: Needs) => file),
      }
      const container = later.createContainer<Record<string, unknown>>({ strict: true }).register(failing)
      for (const [name, code] of [
        ['a', 'CIRCULAR'],
        ['old', 'LIFETIME'],
        ['shop', 'MISSING'],
      ] as const) {
        const error = thrownBy(() => container.resolve(name))
        // The framework knows the class of its own copy.
        Object.setPrototypeOf(error, AwilixResolutionError.prototype)
        const explained = explainResolution(error, name, 'app.provide', [])
        expect(explained.cause).to.equal(error)
        if (explained.code === `MORTAR_SERVICE_${code}` && !explained.found.includes('could not be resolved'))
          continue
        expect(explained.found).to.include(error.message)
      }
    })
})

function thrownBy(act: () => unknown): Error {
  try {
    act()
  } catch (error) {
    return error as Error
  }
  throw new Error('It did not throw.')
}

describe('Another version of awilix', () => {
  for (const [before, after, part] of [
    ['            dispose,', '            release: dispose,', 'disposers'],
    ['registrations() {', 'registered() {', 'lifetimes'],
    ['lifetime: value,', 'life: value,', 'lifetimes'],
    ['options.strict', 'options.severe', 'the strict mode'],
    ['.isLeakSafe', '.isSafe', '`isLeakSafe`'],
    ['cache: new Map()', 'cached: new Map()', 'the cache of a scope'],
    ['resolver, value: resolved', 'resolver, made: resolved', 'the cache of a scope'],
    ['createScope,', 'openScope: createScope,', 'the cache of a scope'],
    [
      'container.cache.set(name, { resolver, value: resolved });\n                    break;',
      'container.cache.set(name, { resolver, value: resolved });\n                    container.cache = new Map([...container.cache].reverse());\n                    break;',
      'the cache of a scope',
    ],
  ] as const)
    it(`stops the start, which names ${part}, if it has '${after.trim().split('\n').at(-1)!.trim().slice(0, 40)}'`, async () => {
      const later = await withOtherWords(before, after)
      try {
        checkAwilix(later)
      } catch (error) {
        expect(error).to.be.instanceOf(StartupError)
        expect(error).to.include({ code: 'MORTAR_SERVICE_AWILIX' })
        expect(String(error))
          .to.match(/awilix \d+\.\d+\.\d+ differs in /)
          .and.include(part)
        return
      }
      throw new Error('It was accepted.')
    })

  it('stops no start with the version that is installed', () => {
    expect(() => checkAwilix()).not.to.throw()
  })
})
