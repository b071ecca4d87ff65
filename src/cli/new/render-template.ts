/** What a template is filled with: texts for `{{name}}`, and which of its conditions hold. */
export interface TemplateValues {
  readonly texts: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
}

/** A condition stands in a line of its own, in a comment or bare: `// #if auth`, `# #if auth`, `<!-- #end -->`. */
const CONDITION = /^\s*(?:\/\/|#|<!--)?\s*#(if|end)\b\s*(!?)(\w*)\s*(?:-->)?\s*$/

/**
 * Fills a template: lines between `#if flag` (or `#if !flag`) and `#end` stay when it holds, and `{{name}}` becomes
 * its text. Conditions do not nest.
 * @throws Error for a `{{name}}` without a text, which is a mistake of the template.
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
    if (!Object.hasOwn(texts, name)) throw new Error(`The template asks for {{${name}}}, which nobody gives.`)
    return texts[name]!
  })
}
