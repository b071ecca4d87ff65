import type { BrickParts } from '../brick-recipe.ts'

/**
 * Appends the environment variables of a brick to the text of `.env.example`. A variable that the text has, in a comment
 * or not, stays as it is.
 * @param application name of the application, for the examples.
 */
export function appendVariables(text: string, { env = {} }: BrickParts, application: string): string {
  const missing = Object.entries(env).filter(([name]) => !hasVariable(text, name))
  if (missing.length === 0) return text
  const name = application.replaceAll(/\W/g, '_')
  const paragraphs = missing.map(([variable, { comment, example = '', optional = false }]) =>
    [
      ...comment.split('\n').map((line) => `# ${line}`),
      `${optional ? '#' : ''}${variable}=${example.replaceAll('{{name}}', name)}`,
    ].join('\n'),
  )
  const before = text.trimEnd()
  return `${[...(before === '' ? [] : [before]), ...paragraphs].join('\n\n')}\n`
}

function hasVariable(text: string, name: string): boolean {
  return new RegExp(String.raw`^#?\s*${name}=`, 'm').test(text)
}
