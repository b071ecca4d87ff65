import { styleText } from 'node:util'
import { processVariables, type Variables } from '../support/env/environment.ts'

/** Output of a command: its result on standard output, everything else on standard error. */
export type Terminal = ReturnType<typeof createTerminal>

/** Colours for standard error, or plain text if colours are off. */
export interface Paint {
  dim(text: string): string
  red(text: string): string
  yellow(text: string): string
}

/** Makes a terminal on the streams of the process. */
export function createTerminal() {
  return {
    /** Prints lines of the result. */
    print: (text: string) => void process.stdout.write(`${text}\n`),
    /** Prints lines for the user that do not belong to the result. */
    note: (text: string) => void process.stderr.write(`${text}\n`),
    paint: createPaint(wantsColour(processVariables(), process.stderr.isTTY)),
  }
}

/** Decides about colours: by `NO_COLOR` and `FORCE_COLOR`, then by the presence of a terminal (no-color.org). */
export function wantsColour(variables: Variables, isTerminal: boolean): boolean {
  if (variables['NO_COLOR']) return false
  const { FORCE_COLOR: forced } = variables
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return isTerminal && variables['TERM'] !== 'dumb'
}

function createPaint(coloured: boolean): Paint {
  const style = (format: keyof Paint) => (text: string) =>
    coloured ? styleText(format, text, { validateStream: false }) : text
  return { dim: style('dim'), red: style('red'), yellow: style('yellow') }
}
