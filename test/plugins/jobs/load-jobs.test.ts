import { expect } from 'chai'
import { StartupErrors, type StartupError } from 'mortar'
import { loadJobs } from '../../../plugins/jobs/load-jobs.ts'
import { jobs } from '@mortar/jobs'
import { readSchedule } from '../../../plugins/jobs/schedule.ts'
import { inZone, ZONES } from '../../support/zones.ts'
import { DIRECTORY } from './applications.ts'

async function failureOf(work: () => unknown): Promise<StartupError> {
  try {
    await work()
  } catch (error) {
    return error as StartupError
  }
  throw new Error('It did not fail.')
}

describe('the directory of jobs', () => {
  it('gives each job the path of its file as its name', async () => {
    const loaded = await loadJobs(DIRECTORY)
    expect(loaded.map(({ name }) => name)).to.deep.equal(['held', 'record', 'reports/nightly', 'slow'])
  })

  it('knows of each schedule if a missed moment is made up for', () => {
    const cron = '0 3 * * *'
    const schedules = [cron, { cron }, { cron, missed: 'once' }, { cron, missed: 'skip' }] as const
    const read = schedules.map((every) => readSchedule('nightly', every, 'nightly.ts').runsMissed)
    expect(read).to.deep.equal([true, true, true, false])
  })

  it('reports every broken file in one run', async () => {
    const error = await failureOf(() => loadJobs(new URL('./broken', import.meta.url)))
    expect(error).to.be.instanceOf(StartupErrors)
    const found = (error as StartupErrors).errors.map(({ code, files }) => [
      code,
      files[0]?.split('/broken/')[1],
    ])
    expect(found).to.deep.equal([
      ['MORTAR_JOBS_OPTION', 'both.ts'],
      ['MORTAR_JOBS_FILE', 'deep/throws.ts'],
      ['MORTAR_JOBS_OPTION', 'deep/twice.ts'],
      ['MORTAR_JOBS_FILE', 'no-default.ts'],
      ['MORTAR_JOBS_FILE', 'no-definition.ts'],
      ['MORTAR_JOBS_FILE', 'no-handler.ts'],
      ['MORTAR_JOBS_OPTION', 'on-a-name.ts'],
      ['MORTAR_JOBS_FILE', 'twin.ts'],
      ['MORTAR_JOBS_FILE', 'wrong-data.ts'],
      ['MORTAR_JOBS_OPTION', undefined],
      ['MORTAR_JOBS_OPTION', 'wrong-schedule.ts'],
    ])
    expect(error.message).to.contain("Did you mean 'attempts'?").and.contain('This module fails.')
    expect(error.message).to.contain('broken/no-handler.ts has no handler.')
  })

  it('refuses a relative directory, and one that does not exist', async () => {
    for (const directory of ['jobs', new URL('./nowhere', import.meta.url)])
      expect((await failureOf(() => loadJobs(directory))).code).to.equal('MORTAR_JOBS_DIRECTORY')
  })
})

describe('the options of jobs()', () => {
  for (const [title, options] of Object.entries({
    'no directory': {},
    'an unknown key': { directory: DIRECTORY, concurency: 2 },
    'a concurrency of 0': { directory: DIRECTORY, concurrency: 0 },
    'a keep that is not a duration': { directory: DIRECTORY, keep: 'a week' },
  }))
    it(`refuse ${title}`, async () => {
      expect((await failureOf(() => jobs(options as never))).code).to.equal('MORTAR_JOBS_OPTION')
    })
})

describe('a schedule', () => {
  const nextOf = (every: Parameters<typeof readSchedule>[1], after: string): string =>
    new Date(readSchedule('a', every, 'a.ts').next(Date.parse(after))!).toISOString()

  for (const zone of ZONES)
    it(`is in UTC or in its own zone, in a process of the zone ${zone}`, () =>
      inZone(zone, () => {
        expect(nextOf('0 3 * * *', '2026-07-01T12:00:00Z')).to.equal('2026-07-02T03:00:00.000Z')
        const berlin = { cron: '0 3 * * *', timeZone: 'Europe/Berlin' }
        expect(nextOf(berlin, '2026-07-01T12:00:00Z')).to.equal('2026-07-02T01:00:00.000Z')
        expect(nextOf(berlin, '2026-12-01T12:00:00Z')).to.equal('2026-12-02T02:00:00.000Z')
      }))

  it('runs each hour of a change of time', () => {
    const hours = { cron: '0 * * * *', timeZone: 'Europe/Berlin' }
    let at = '2026-10-24T23:30:00.000Z'
    const found = Array.from({ length: 3 }, () => (at = nextOf(hours, at)))
    expect(found).to.deep.equal([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ])
  })

  for (const [title, every] of Object.entries({
    'an unknown zone': { cron: '0 3 * * *', timeZone: 'Mars/Olympus' },
    'a day that never comes': '0 0 30 2 *',
    'an unknown treatment of missed moments': { cron: '0 3 * * *', missed: 'all' as never },
  }))
    it(`refuses ${title}`, async () => {
      expect((await failureOf(() => readSchedule('a', every, 'a.ts'))).code).to.equal('MORTAR_JOBS_OPTION')
    })
})
