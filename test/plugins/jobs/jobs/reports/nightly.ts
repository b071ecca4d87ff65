import { job } from '@mortar/jobs'

/** Numbers of runs by process time, for the tests. */
export const nights: string[] = []

export default job({ every: { cron: '30 2 * * *', timeZone: 'Europe/Berlin' } }, ({ services }) => {
  nights.push(new Date(services.clock.now()).toISOString())
})
