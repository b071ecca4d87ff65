/** Zones west and east of UTC: one with half an hour, both with a repeated and a missing hour. */
export const ZONES = ['UTC', 'America/St_Johns', 'Europe/Berlin'] as const

/** Runs work as if the process had been started with `TZ=zone`. Node reads the variable again when it is set. */
export async function inZone<T>(zone: string, work: () => T | Promise<T>): Promise<T> {
  const before = process.env['TZ']
  process.env['TZ'] = zone
  try {
    return await work()
  } finally {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  }
}
