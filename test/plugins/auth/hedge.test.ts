import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createHedge } from 'mortar/kit'

const never = new Promise<string>(() => {})

/** Attempts that return these results one after the other, and how many began. */
function attempts(...results: readonly (() => Promise<string>)[]) {
  let count = 0
  return { attempt: () => results[count++]!(), begun: () => count }
}

describe('A hedge', () => {
  it('tries a second time beside an attempt that takes a second after a quick one, and takes the first success', async () => {
    const hedge = createHedge()
    expect(await hedge(async () => 'quick')).to.equal('quick')
    const dead = attempts(
      () => never,
      async () => 'second',
    )
    expect(await hedge(dead.attempt)).to.equal('second')
    // That took a second in all, so the next one is expected to be slow.
    const slow = attempts(() => wait(1200, 'slow'))
    expect(await hedge(slow.attempt)).to.equal('slow')
    expect(slow.begun()).to.equal(1)
  })

  it('keeps to the first attempt where it is faster, and fails with the second one where both fail', async () => {
    const hedge = createHedge()
    await hedge(async () => 'quick')
    const late = attempts(
      () => wait(1100, 'first'),
      () => never,
    )
    expect(await hedge(late.attempt)).to.equal('first')
    await hedge(async () => 'quick')
    const failing = attempts(
      () => wait(1100).then(() => Promise.reject(new Error('first'))),
      () => Promise.reject(new Error('second')),
    )
    const failure = await hedge(failing.attempt).catch(({ message }: Error) => message)
    expect([failure, failing.begun()]).to.deep.equal(['second', 2])
  })

  it('fails immediately with an attempt that fails within the second', async () => {
    const hedge = createHedge()
    await hedge(async () => 'quick')
    const failing = attempts(() => Promise.reject(new Error('first')))
    expect(await hedge(failing.attempt).catch(({ message }: Error) => message)).to.equal('first')
    expect(failing.begun()).to.equal(1)
  })
})
