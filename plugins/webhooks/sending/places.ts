/** Milliseconds until the first delivery that found no place tries again, and between this one and the next. */
const SOONEST = 1000
const BETWEEN = 500
const LONGEST = 3_600_000

/** The deliveries of this process by their endpoints. */
export type Places = ReturnType<typeof createPlaces>

/** Postpones a delivery. The attempt does not count. */
class EndpointBusy extends Error {
  override readonly name = 'EndpointBusy'
  readonly postponedFor: number

  constructor(postponedFor: number) {
    super('Other deliveries to the endpoint are running.')
    this.postponedFor = postponedFor
  }
}

/** @param most deliveries to one endpoint at the same time. */
export function createPlaces(most: number) {
  const endpoints = new Map<string, { running: number; next: number }>()
  return {
    /** @returns a function that frees the place. @throws EndpointBusy if the endpoint has all that it may have. */
    occupy(endpoint: string) {
      const place = endpoints.get(endpoint) ?? { running: 0, next: 0 }
      if (place.running === most) {
        const now = performance.now()
        // One after another, so that many of them do not keep the queue busy.
        place.next = Math.max(place.next + BETWEEN, now + SOONEST)
        throw new EndpointBusy(Math.min(place.next - now, LONGEST))
      }
      endpoints.set(endpoint, place)
      place.running += 1
      return () => {
        place.running -= 1
        place.next = 0
        if (place.running === 0) endpoints.delete(endpoint)
      }
    },
  }
}
