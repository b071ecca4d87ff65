/** Messages from the serving process to the watching process. */
export type FromServer =
  | {
      readonly type: 'ready'
      readonly url: string
      readonly routes: number
      readonly milliseconds: number
      /** Pages to list by name: `docs`, `mail`. */
      readonly pages: Readonly<Record<string, string>>
    }
  | { readonly type: 'reloaded'; readonly files: readonly string[]; readonly milliseconds: number }
  | { readonly type: 'broken'; readonly message: string; readonly milliseconds: number }

/** Messages from the watching process to the serving process. */
export interface ToServer {
  readonly type: 'reload'
  /** Changed route and middleware files, relative to the directory of routes. */
  readonly files: readonly string[]
}
