import { expect } from 'chai'
import { CountMinSketch } from '../../src/limits/count-min-sketch.ts'

describe('the count-min sketch', () => {
  it('counts one key exactly, and stops at the largest count', () => {
    const sketch = new CountMinSketch(4)
    expect([1, 1, 1, 1, 1].map((points) => sketch.add('a', points))).to.deep.equal([1, 2, 3, 4, 4])
    expect([sketch.estimate('a'), sketch.estimate('b')]).to.deep.equal([4, 0])
    sketch.clear()
    expect(sketch.estimate('a')).to.equal(0)
  })

  it('reserves its room with the first addition, and wider cells for larger counts', () => {
    const [small, large] = [new CountMinSketch(65_535), new CountMinSketch(65_536)]
    expect([small.estimate('a'), small.bytes]).to.deep.equal([0, 0])
    expect(large.add('a', 65_536)).to.equal(65_536)
    expect(small.add('a', 70_000)).to.equal(65_535)
    expect([small.bytes, large.bytes]).to.deep.equal([2 ** 21, 2 ** 22])
  })

  it('is never below the count and seldom above it, with 100,000 keys', () => {
    const sketch = new CountMinSketch(100)
    for (let each = 0; each < 20; each++) sketch.add(`early ${each}`, 50)
    for (let each = 0; each < 100_000; each++) sketch.add(`key ${each}`, 1)
    // Most of these share a place with a later key, which must not lower it.
    for (let each = 0; each < 20; each++) expect(sketch.estimate(`early ${each}`)).to.be.at.least(50)
    let above = 0
    for (let each = 0; each < 100_000; each += 10) {
      expect(sketch.estimate(`key ${each}`)).to.be.at.least(1)
      above += sketch.estimate(`other ${each}`) > 0 ? 1 : 0
    }
    // A place of each of four rows is taken with probability 1 - e^(-100000/262144) = 0.32: 1 % of other keys.
    expect(above).to.be.below(250)
  })
})
