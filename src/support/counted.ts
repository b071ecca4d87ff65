/** Returns a number with its noun: `1 row`, `2 rows`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
