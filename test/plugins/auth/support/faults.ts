/** Makes statements fail before they run, as they would when the process or the database dies there. */
export class Faults {
  private count = 0
  private failing: (statement: number) => boolean = () => false

  /** The nth statement from now on fails. @returns how to mend it, and whether it was reached. */
  failAt(statement: number): { restore: () => void; reached: () => boolean } {
    this.count = 0
    this.failing = (number) => number === statement
    return { restore: () => (this.failing = () => false), reached: () => this.count >= statement }
  }

  /** Every statement from now on fails. */
  failAlways(): void {
    this.failing = () => true
  }

  /** Called before each statement. */
  pass(): void {
    this.count += 1
    if (this.failing(this.count)) throw new Error('disk I/O error')
  }
}
