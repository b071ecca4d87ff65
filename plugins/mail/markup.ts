/** Markup that needs no escaping: made by `html`, or a constant of this folder. */
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

/** Values of a markup template. */
export type MarkupValue = Markup | string | number | readonly MarkupValue[]

/** Template tag: escapes each value that is not markup, and joins the items of an array. */
export function html(strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return new Markup(strings.reduce((whole, part, index) => `${whole}${render(values[index - 1]!)}${part}`))
}

/** Escapes a string for markup, inside an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}

function render(value: MarkupValue): string {
  if (value instanceof Markup) return value.toString()
  return typeof value === 'object' ? value.map(render).join('') : escapeHtml(String(value))
}
