import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { VARIETY, type WireRequest } from '../../bench/workloads/workload.ts'
import { ROOT } from '../architecture/tree.ts'
import { importBench } from './bench-modules.ts'

const { WORKLOADS } = await importBench('workloads/all.ts')
const { serversOf } = await importBench('peers.ts')
const { prepare } = await importBench('load/prepared.ts')
const { wireOf } = await importBench('load/wire.js')

/** The others build their requests as one of these does. */
const KINDS = ['a', 'b', 'c', 'd', 'd:many', 'h', 'i', 'j', 'k', 'l', 'm:sqlite']
const kinds = WORKLOADS.filter(({ id }) => KINDS.includes(id))
const tokens = (count: number): string[] => Array.from({ length: count }, (_, index) => `token-${index}`)

describe('the workloads of the bench', () => {
  for (const workload of kinds)
    it(`sends no request of ${workload.id} twice within ${VARIETY}`, () => {
      const requests = workload.requests(tokens(workload.size))
      const different = new Set(
        requests.map(({ method, path, headers, body }) => textOf(method, path, headers, body)),
      )
      expect(different.size).to.equal(requests.length)
      expect(different.size).to.be.at.least(VARIETY)
    })

  it('sends as many different tokens in d:many as its description names', () => {
    const many = WORKLOADS.find(({ id }) => id === 'd:many')!
    const sent = new Set(many.requests(tokens(many.size)).map(({ headers }) => headers['authorization']))
    expect(sent.size).to.equal(100_000)
  })

  it('sends documents of 64 KiB in i', () => {
    const document = WORKLOADS.find(({ id }) => id === 'i')!
    const sizes = document
      .requests([])
      .slice(0, 32)
      .map(({ body = '', tail = '' }) => Buffer.byteLength(body + tail))
    expect(Math.min(...sizes)).to.be.at.least(62 * 1024)
    expect(Math.max(...sizes)).to.be.at.most(72 * 1024)
  })

  it('begins the checks with one that gets the same response as under load', () => {
    for (const workload of kinds)
      expect(workload.checks(tokens(workload.size))[0]!.status, workload.id).to.equal(workload.status ?? 200)
  })

  it('has a program for each server', () => {
    const peers = WORKLOADS.flatMap((workload) =>
      serversOf({ ...workload, peers: [...workload.peers, ...(workload.morePeers ?? [])] }, ALL),
    )
    const missing = [...new Set(peers.map(({ peer }) => peer))].filter(
      (peer) => !existsSync(join(ROOT, `bench/peers/${peer}.js`)),
    )
    expect(missing).to.deep.equal([])
  })
})

const ALL = { peers: undefined, builds: [] as [] }

function textOf(method: string, path: string, headers: Readonly<Record<string, string>>, body = ''): string {
  return `${method} ${path} ${headers['authorization'] ?? ''} ${body}`
}

describe('the servers of a workload', () => {
  const logging = WORKLOADS.find(({ id }) => id === 'n')!
  const hello = WORKLOADS.find(({ id }) => id === 'a')!

  it('are the servers that the workload names, with its further processes', () => {
    expect(serversOf(logging, ALL).map(({ name, app }) => `${name}: ${app}`)).to.deep.equal([
      'raw: user:log',
      'mortar: user:log',
      'fastify: user:log',
      'koa-stack: user:log',
      'mortar, no log: user',
      'fastify, no log: user',
    ])
  })

  it('are `raw` and the servers that the options name, if they support this workload', () => {
    const peers = ['mortar', 'adonis-lucid']
    expect(serversOf(hello, { ...ALL, peers }).map(({ name }) => name)).to.deep.equal(['raw', 'mortar'])
    expect(serversOf(logging, { ...ALL, peers }).map(({ name }) => name)).to.deep.equal([
      'raw',
      'mortar',
      'mortar, no log',
    ])
  })
})

describe('prepared requests', () => {
  it('have the same bytes as the single requests', () => {
    const requests: WireRequest[] = [
      { method: 'GET', path: '/caf%C3%A9', headers: { accept: '*/*' } },
      { method: 'POST', path: '/', headers: {}, body: '{"name":"é",', tail: '"rest":"ü"}' },
      { method: 'POST', path: '/', headers: {}, body: '{"name":"ï",', tail: '"rest":"ü"}' },
    ]
    const { bytes, ends, tails, tailOf } = prepare(requests)
    const texts = requests.map((_, index) => {
      const own = Buffer.from(bytes).subarray(index === 0 ? 0 : ends[index - 1], ends[index])
      const tail = tails[tailOf[index]!]
      return own.toString('latin1') + (tail === undefined ? '' : Buffer.from(tail).toString('latin1'))
    })
    expect(tails).to.have.length(1)
    expect(texts).to.deep.equal(requests.map(wireOf))
    expect(texts[1]).to.include('Content-Length: 25\r\n')
  })
})
