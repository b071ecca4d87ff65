/** Returns the name by which generated source text refers to a value. */
export type Refer = (value: unknown) => string

/** Makers by source text. Schemas of the same structure share compiled code, so that it stays fast with many routes. */
const made = new Map<string, (values: unknown[]) => unknown>()

/**
 * Makes a function from source text, which `write` composes: V8 then sees the shapes of only one schema at each call
 * site. A loop that all schemas share takes two to five times as long once an application has a dozen of them.
 * Undefined if Node runs with `--disallow-code-generation-from-strings`.
 *
 * Nothing of a request is ever part of the text. Names of a schema enter through `JSON.stringify`; everything else,
 * bounds too, is passed as a value, by `refer`.
 */
export function generate<Made>(write: (refer: Refer) => string): Made | undefined {
  const values: unknown[] = []
  const source = write((value) => {
    // Equal bounds of one schema differ in another one of the same structure.
    const known = typeof value === 'number' ? -1 : values.indexOf(value)
    return `r${known === -1 ? values.push(value) - 1 : known}`
  })
  const names = values.map((_, index) => `r${index}`)
  const body = `'use strict'\nconst [${names.join(', ')}] = values\nreturn ${source}`
  try {
    // oxlint-disable-next-line eslint/no-new-func, typescript/no-implied-eval -- see above
    const make = made.get(body) ?? (new Function('values', body) as (values: unknown[]) => unknown)
    made.set(body, make)
    return make(values) as Made
  } catch (error) {
    if (error instanceof EvalError) return undefined
    throw error
  }
}
