/** One instruction of a Dockerfile with its continuation lines joined. */
export interface Instruction {
  readonly keyword: string
  readonly text: string
}

/** Splits a Dockerfile into stages, each beginning with `FROM`; what precedes the first one is left out. */
export function readStages(dockerfile: string): readonly (readonly Instruction[])[] {
  const lines = dockerfile
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
  const stages: Instruction[][] = []
  for (const line of lines.filter((each) => each.trim() !== '')) {
    const [, keyword = '', text = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
    if (keyword === 'FROM') stages.push([])
    stages.at(-1)?.push({ keyword, text })
  }
  return stages
}

/** The text of the last instruction with a keyword. @throws Error when it is missing. */
export function textOf(stage: readonly Instruction[], keyword: string): string {
  const found = stage.findLast((instruction) => instruction.keyword === keyword)
  if (!found) throw new Error(`The stage has no ${keyword}.`)
  return found.text
}

/** The command of an instruction in exec form. @throws SyntaxError for the shell form. */
export function commandOf(stage: readonly Instruction[], keyword: 'CMD' | 'HEALTHCHECK'): string[] {
  return JSON.parse(textOf(stage, keyword).replace(/^.*?(?=\[)/, '')) as string[]
}
