/** Values of a template: strings for `{{name}}`, and the flags that are true. */
export interface TemplateValues {
  readonly texts: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
}

/**
 * Matches a condition, which has its own line, in a comment or bare: `// #if auth`, `# #if auth`, `<!-- #end -->`.
 */
const CONDITION = /^\s*(?:\/\/|#|<!--)?\s*#(if|end)\b\s*(!?)(\w*)\s*(?:-->)?\s*$/

/**
 * Fills a template: lines between `#if flag` (or `#if !flag`) and `#end` stay if the condition is true, and `{{name}}`
 * is replaced by its string. Conditions do not nest.
 * @throws Error for a `{{name}}` without a value, which is a fault of the template.
 */
export function renderTemplate(template: string, { texts, flags }: TemplateValues): string {
  let shows = true
  const lines = template.split('\n').filter((line) => {
    const condition = CONDITION.exec(line)
    if (condition === null) return shows
    const [, verb, not, flag = ''] = condition
    shows = verb === 'end' || flags.has(flag) === (not === '')
    return false
  })
  return lines.join('\n').replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    if (!Object.hasOwn(texts, name)) throw new Error(`The template uses {{${name}}}, which has no value.`)
    return texts[name]!
  })
}
