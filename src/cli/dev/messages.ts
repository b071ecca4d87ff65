/** What the process that serves tells the one that watches. */
export type FromServer =
  | {
      readonly type: 'ready'
      readonly url: string
      readonly routes: number
      readonly milliseconds: number
      /** Pages to show, by their name: `docs`, `mail`. */
      readonly pages: Readonly<Record<string, string>>
    }
  | { readonly type: 'reloaded'; readonly files: readonly string[]; readonly milliseconds: number }
  | { readonly type: 'broken'; readonly message: string; readonly milliseconds: number }

/** What the process that watches tells the one that serves. */
export interface ToServer {
  readonly type: 'reload'
  /** Changed route and middleware files, relative to the directory of routes. */
  readonly files: readonly string[]
}
