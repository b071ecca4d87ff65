import { expect } from 'chai'
import type { BrickServices, Environment, Logger } from 'mortar'
import { limits } from '@mortar/limits'
import { basicAuth, type BasicAuthOptions } from '@mortar/auth/basic'
import { memoryLimitFindings, warnOfMemoryLimits } from '../../src/limits/count-alone.ts'

const NAMES = ['FRAMEWORK_PROCESSES', 'FRAMEWORK_WORKER'] as const

/** Runs `act` in one of several processes. */
function inProcess<T>(number: number, count: number, act: () => T): T {
  const before = NAMES.map((name) => process.env[name])
  Object.assign(process.env, { FRAMEWORK_PROCESSES: String(count), FRAMEWORK_WORKER: String(number) })
  try {
    return act()
  } finally {
    for (const [index, name] of NAMES.entries())
      if (before[index] === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = before[index]
  }
}

/** Lines that a start logs, and levels that the doctor reports. */
function reports(number: number, count: number, environment: Environment = 'production') {
  const lines: string[] = []
  const logger = { warn: (_: object, text: string) => lines.push(text) } as unknown as Logger
  const levels = inProcess(number, count, () => {
    warnOfMemoryLimits('limits', { environment, logger })
    return memoryLimitFindings(environment).map(({ level, found }) => `${level}: ${found}`)
  })
  return { lines, levels }
}

describe('limits in the memory of each process', () => {
  it('are a warning of the doctor and of the start with several processes', () => {
    const { lines, levels } = reports(1, 3)
    expect(levels.join()).to.match(/^warning: .*each limit 3 times\.$/)
    expect(lines.join()).to.match(/each limit 3 times\. Count for all/)
  })

  it('are logged by the first process only', () => {
    expect(reports(2, 3).lines).to.deep.equal([])
  })

  it('are a note with one process, and nothing outside production', () => {
    const { lines, levels } = reports(1, 1)
    expect(lines).to.deep.equal([])
    expect(levels.join()).to.match(/^note: /)
    expect(reports(1, 3, 'development')).to.deep.equal({ lines: [], levels: [] })
  })

  it('are reported by limits(), at the start and by the doctor, and shared limits are not', async () => {
    const reported = []
    for (const isShared of [false, true]) {
      const lines: string[] = []
      const logger = { warn: (_: object, text: string) => lines.push(text) }
      const services = {
        environment: 'production',
        logger,
        limiter: { isShared },
      } as unknown as BrickServices
      const { start, doctor } = limits()
      await inProcess(1, 3, () => start!(services))
      const findings = await inProcess(1, 3, () => doctor!(services))
      reported.push([lines.length, ...findings.map(({ code }) => code)])
    }
    expect(reported).to.deep.equal([[1, 'MORTAR_LIMITS_MEMORY'], [0]])
    const client = { status: 'ready', defineCommand: () => undefined }
    const services = { environment: 'production', limiter: { isShared: true } } as unknown as BrickServices
    expect(await limits({ store: client }).doctor!(services), 'no table').to.deep.equal([])
  })

  it('are reported by the sign-in only without the service `limiter`, whose brick reports them', async () => {
    const doctorOf = async (options: Partial<BasicAuthOptions>, services: object): Promise<string[]> => {
      const given = { environment: 'production', ...services } as BrickServices
      const { doctor } = basicAuth({ secret: 'a secret of 32 bytes that is random', ...options })
      return (await doctor!(given)).map(({ code }) => code)
    }
    expect(await doctorOf({}, {})).to.include('MORTAR_LIMITS_MEMORY')
    expect(await doctorOf({}, { limiter: {} })).to.not.include('MORTAR_LIMITS_MEMORY')
    expect(await doctorOf({ limits: false }, {})).to.not.include('MORTAR_LIMITS_MEMORY')
  })
})
