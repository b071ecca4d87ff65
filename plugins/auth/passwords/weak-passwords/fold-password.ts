/** Converts passwords and words to the form for comparison: NFKC and lower case, so that `ＰＡＳＳＷＯＲＤ` is `password`. */
export function foldPassword(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC')
}
