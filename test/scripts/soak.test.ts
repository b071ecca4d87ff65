import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { mock } from 'node:test'
import { expect } from 'chai'
import { type NetworkFaults, reset, startProxy } from '../../scripts/soak/cutting-proxy.ts'
import { Disturbances } from '../../scripts/soak/disturbances.ts'
import { Findings } from '../../scripts/soak/findings.ts'
import { Ledger, type ListedNote } from '../../scripts/soak/ledger.ts'
import { Signals } from '../../scripts/soak/signals.ts'

describe('The ledger of the soak', () => {
  const note = (text = 'a'): ListedNote => ({ id: '1', title: 'note 1', text })

  /** Returns the kinds of faults that the ledger finds in a list. */
  function faults(act: (ledger: Ledger) => void, listed: readonly ListedNote[]): string {
    const ledger = new Ledger()
    const findings = new Findings()
    act(ledger)
    ledger.compare(listed, { who: 'Ada', findings })
    return findings.report()
  }

  const created = (ledger: Ledger): void => ledger.created('1', { marker: 'note 1', text: 'a' })
  const deleted = (ledger: Ledger): void => {
    created(ledger)
    ledger.deleted('1')
  }

  it('accepts what was acknowledged', () => {
    expect(faults(created, [note()])).to.equal('')
    expect(faults(deleted, [])).to.equal('')
  })

  it('finds a lost note, a changed note and a deleted note that is back', () => {
    expect(faults(created, [])).to.include('1 × an acknowledged note is lost')
    expect(faults(created, [note('b')])).to.include('1 × a note has changed')
    expect(faults(deleted, [note()])).to.include('1 × a deleted note is back')
  })

  it('finds a note that exists twice or that nobody wrote', () => {
    expect(faults(created, [note(), { ...note(), id: '2' }])).to.include('1 × a note exists twice')
    expect(faults(() => undefined, [note()])).to.include('1 × a note that nobody wrote')
  })

  it('accepts both outcomes of a request whose response was lost', () => {
    const changed = (ledger: Ledger): void => {
      created(ledger)
      ledger.perhapsChanged('1', 'b')
    }
    const removed = (ledger: Ledger): void => {
      created(ledger)
      ledger.perhapsDeleted('1')
    }
    const sent = (ledger: Ledger): void => ledger.perhapsCreated({ marker: 'note 1', text: 'a' })
    for (const text of ['a', 'b']) expect(faults(changed, [note(text)])).to.equal('')
    for (const listed of [[note()], []]) {
      expect(faults(removed, listed)).not.to.include('FOUND')
      expect(faults(sent, listed)).not.to.include('FOUND')
    }
  })

  it('accepts only the acknowledged value after a later success', () => {
    const settled = (ledger: Ledger): void => {
      created(ledger)
      ledger.perhapsDeleted('1')
      ledger.changed('1', 'c')
    }
    expect(faults(settled, [note('c')])).to.equal('')
    expect(faults(settled, [])).to.include('1 × an acknowledged note is lost')
  })
})

describe('The disturbances of the soak', () => {
  it('overlap a request that began before their end', async () => {
    const disturbances = new Disturbances()
    expect(disturbances.overlap(Date.now())).to.equal(false)
    await disturbances.during(() => Promise.resolve())
    expect(disturbances.overlap(Date.now())).to.equal(true)
    expect(disturbances.overlap(Date.now() + 60_000)).to.equal(false)
  })
})

describe('The proxy of the soak', () => {
  let echo: Server
  let proxy: NetworkFaults
  const sockets: Socket[] = []

  beforeEach(async () => {
    echo = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.pipe(socket)
    }).listen(0, '127.0.0.1')
    await once(echo, 'listening')
    proxy = await startProxy((echo.address() as AddressInfo).port)
  })

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await proxy.stop()
    echo.close()
  })

  /** Opens a connection and waits for the echo of one byte. */
  async function open(): Promise<Socket> {
    const socket = connect(proxy.port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.write('a')
    await once(socket, 'data')
    return socket
  }

  it('forwards bytes in both directions', async () => {
    await open()
  })

  it('resets connections, and accepts new ones afterwards', async () => {
    const socket = await open()
    const closed = new Promise((resolve) => {
      socket.once('close', resolve)
    })
    await proxy.cut(20)
    await closed
    await open()
  })

  it('leaves no socket open if it resets one whose end is on its way', async () => {
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .end()
    const [accepted] = (await once(server, 'connection')) as [Socket]
    accepted.resume()
    await once(accepted, 'end')
    accepted.end()
    // By then, Node has asked the system for the end.
    await new Promise((done) => {
      process.nextTick(done)
    })
    reset(accepted)
    expect(await once(accepted, 'close')).to.deep.equal([false])
    server.close()
  })

  it('drops bytes without closing, and connections of that time stay silent', async () => {
    const socket = await open()
    let received = 0
    socket.on('data', () => received++)
    const silence = proxy.silence(50)
    socket.write('b')
    await silence
    await open()
    socket.write('c')
    await open()
    expect(received).to.equal(0)
    expect(socket.destroyed).to.equal(false)
  })

  it('delays bytes, and keeps their order', async () => {
    const socket = await open()
    let received = ''
    let first = 0
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString()
      first ||= performance.now()
    })
    const from = performance.now()
    const slow = proxy.slow(45, 30)
    socket.write('b')
    await slow
    socket.write('c')
    while (received.length < 2) await once(socket, 'data')
    expect(received).to.equal('bc')
    // A timer may be a millisecond early.
    expect(first - from).to.be.at.least(28)
  })
})

describe('The signals of the soak', () => {
  beforeEach(() => mock.timers.enable({ apis: ['Date'] }))
  afterEach(() => mock.timers.reset())

  /** Returns the report about a fault of a database. */
  function judge(act: (signals: Signals) => void): string {
    const findings = new Findings()
    const signals = new Signals()
    signals.begin('a fault')
    act(signals)
    signals.judge(findings)
    return findings.report()
  }
  const line = (fields: object): string =>
    JSON.stringify({ level: 40, time: Date.now(), msg: 'away', ...fields })

  it('find a fourth line of one cause in a minute, the line of a recovery included', () => {
    const write = (signals: Signals, last: object): void => {
      for (let times = 0; times < 2; times++) signals.line('process 1', line({}))
      signals.line('process 1', line({ event: 'outage.over', level: 30 }))
      signals.line('process 1', line(last))
    }
    expect(judge((signals) => write(signals, {}))).to.include('FOUND 1 × more lines than three')
    const others = [{ msg: 'Redis is away' }, { event: 'auth.login.limited' }, { level: 30 }]
    for (const other of others) expect(judge((signals) => write(signals, other))).not.to.include('FOUND')
    const later = (signals: Signals): void => {
      signals.line('process 1', line({}))
      mock.timers.tick(60_000)
      write(signals, { level: 30 })
    }
    expect(judge(later)).not.to.include('FOUND')
  })

  it('find a long loss of service that neither a probe nor a scrape has shown', () => {
    const lose = (signals: Signals, ms: number): void => {
      signals.lost()
      mock.timers.tick(ms)
      signals.lost()
    }
    expect(judge((signals) => lose(signals, 6000))).to.include('FOUND 1 × a loss of service')
    expect(judge((signals) => lose(signals, 5999))).not.to.include('FOUND')
  })
})
