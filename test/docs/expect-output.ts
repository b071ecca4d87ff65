import { expect } from 'chai'

/**
 * Compares printed output with the output in a document. `…` matches any text of one line, and the amount of white space
 * does not matter.
 */
export function expectOutput(printed: string, shown: string, place: string): void {
  const pattern = new RegExp(`^${shown.trim().split('\n').map(patternOfLine).join('\n')}$`)
  if (!pattern.test(normalized(printed))) expect(normalized(printed), place).to.equal(normalized(shown))
}

function patternOfLine(line: string): string {
  return normalized(line)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*')
}

function normalized(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .join('\n')
}
