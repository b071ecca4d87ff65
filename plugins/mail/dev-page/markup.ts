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

/** What a template of markup takes. */
export type MarkupValue = Markup | string | number | readonly MarkupValue[]

/** A template of markup: each value that is not markup itself is escaped, and the items of an array are joined. */
export function html(strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return new Markup(strings.reduce((whole, part, index) => `${whole}${render(values[index - 1]!)}${part}`))
}

/** A text as it is written in markup, inside an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}

function render(value: MarkupValue): string {
  if (value instanceof Markup) return value.toString()
  return typeof value === 'object' ? value.map(render).join('') : escapeHtml(String(value))
}
