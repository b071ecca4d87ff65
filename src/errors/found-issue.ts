import type { Issue } from './http-error.ts'

/** An issue without its location. */
type Fault = Omit<Issue, 'location'>

/** JSON of faults that many requests share, without the opening brace. */
const prepared = new WeakMap<Fault, string>()

/** Prepares the JSON of a fault that requests share. Nothing changes it afterwards. */
export function prepareText<F extends Fault>(fault: F): F {
  prepared.set(fault, JSON.stringify(fault).slice(1))
  return fault
}

/** An issue that validation found. Its JSON is that of its fault, until an application changes it. */
export class FoundIssue implements Issue {
  declare readonly location: Issue['location']
  declare readonly path: string
  declare readonly rule: string
  declare readonly params?: NonNullable<Issue['params']>
  declare readonly message: string
  readonly #location: string
  readonly #fault: Fault

  constructor(location: Issue['location'], fault: Fault, message: string) {
    this.#fault = fault
    this.#location = this.location = location
    this.path = fault.path
    this.rule = fault.rule
    if (fault.params !== undefined) this.params = fault.params
    this.message = message
  }

  /** Returns the JSON of a member of a problem: of a list of found issues, or of any other value. */
  static textOf(value: unknown): string | undefined {
    if (Array.isArray(value) && value[0] instanceof FoundIssue)
      return `[${value.map((issue) => FoundIssue.#preparedText(issue) ?? JSON.stringify(issue)).join(',')}]`
    return JSON.stringify(value)
  }

  static #preparedText(issue: unknown): string | undefined {
    if (!(issue instanceof FoundIssue)) return undefined
    const { location, path, rule, params, message } = issue
    const [from, fault] = [issue.#location, issue.#fault]
    const isOwn = location === from && path === fault.path && rule === fault.rule && params === fault.params
    const text = isOwn && message === fault.message ? prepared.get(fault) : undefined
    return text && `{"location":"${location}",${text}`
  }
}
