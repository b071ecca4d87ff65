/**
 * Packages that a part of the framework or a brick needs, and that the application installs: a driver that the user chooses.
 * Their versions are in `peerDependencies` of the package that owns `from`.
 */
export interface Peers {
  /** `import.meta.url` of a module in the package that declares the peers. Packages are searched from there. */
  readonly from: string
  readonly packages?: readonly string[]
  /** Packages with a compiled part, which is loaded for the check. They have to be CommonJS. */
  readonly native?: readonly string[]
  /** True for packages of tests and of development: `npm install --save-dev`. */
  readonly development?: boolean
}

/** Peers together with the part that needs them, for messages: `the brick 'database'`. */
export interface PeerNeed {
  readonly of: string
  readonly peers: Peers
}

/** One package that is not as its owner needs it. */
export interface PeerProblem {
  readonly kind: 'missing' | 'version' | 'native'
  readonly name: string
  /** The version range of `peerDependencies`; undefined where package.json cannot be found, as in a bundle. */
  readonly range: string | undefined
  readonly development: boolean
  /** The installed version, or the reason why the compiled part cannot be loaded. */
  readonly found?: string
}

/** The brick among the owners of a need, for an error of one owner. */
export function brickOf(owners: readonly string[]): { readonly brick?: string } {
  const [, brick] = /^the brick '(.+)'$/.exec(owners.length === 1 ? owners[0]! : '') ?? []
  return brick === undefined ? {} : { brick }
}
