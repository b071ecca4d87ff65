import { job } from '@mortar/jobs'

// An event is an object that durableEvent() has made.
export default job({ on: { name: 'note.shared' } as never }, () => undefined)
