/** The form in which passwords and words are compared: NFKC and lower case, so that `ＰＡＳＳＷＯＲＤ` is `password`. */
export function foldPassword(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC')
}
