import { asFunction, createContainer } from 'awilix/browser'
import { expect } from 'chai'
import { readResolution } from '../../src/compat/awilix.ts'

type Needs = Record<string, unknown>

function failureOf(register: Parameters<ReturnType<typeof createContainer>['register']>[0], name: string) {
  try {
    createContainer({ strict: true }).register(register).resolve(name)
  } catch (error) {
    return readResolution(error)
  }
  throw new Error('It was resolved.')
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
})
