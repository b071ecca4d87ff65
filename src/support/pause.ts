/**
 * True until a moment that is at most `longest` milliseconds away. One that is further away was set by a clock that was
 * ahead, and that is right now.
 */
export function isPausing(until: number, now: number, longest: number): boolean {
  return now < until && until - now <= longest
}
