/** Markup that may go into a page as it is: what `html` makes, or a constant of this folder. */
export class Markup {
  readonly #source: string

  constructor(source: string) {
    this.#source = source
  }

  toString(): string {
    return this.#source
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A template of markup: every value that is not markup itself is escaped, arrays are joined, `null` is nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Markup {
  return new Markup(strings.reduce((whole, part, index) => `${whole}${render(values[index - 1])}${part}`))
}

/** A text as it is written in markup, inside an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}

function render(value: unknown): string {
  if (value === undefined || value === null || value === false) return ''
  if (value instanceof Markup) return value.toString()
  if (Array.isArray(value)) return value.map(render).join('')
  return escapeHtml(String(value))
}
