import type { Clock } from 'mortar'

/** A clock that moves only when told to. Milliseconds. */
export class TestClock implements Clock {
  time: number

  constructor(time = Date.UTC(2030, 0, 1)) {
    this.time = time
  }

  now(): number {
    return this.time
  }

  /** Moves on by so many seconds. */
  advance(seconds: number): void {
    this.time += seconds * 1000
  }
}
