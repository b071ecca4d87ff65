/** Limits of one run. */
export interface Budget {
  /** Exchanges that honest tabs may begin. */
  readonly exchanges: number
  /** Honest tabs; they share one cookie jar. */
  readonly tabs: number
  /** Processes, which exchanges use in turn; those of one process share a running exchange. */
  readonly processes: number
  /** True if a process may crash; each exchange then needs its own process. */
  readonly crashes?: boolean
  /** With it a thief presents the first token once the session has moved on by so many generations. */
  readonly theft?: number
}

/** One request for a refresh, and how far it has come. */
export interface Exchange {
  readonly tab: number
  readonly process: number
  readonly token: string
  /** Number of rotations of the session when the request arrived. */
  readonly generation: number
  readonly abort: AbortController
  /** Results of its statements so far: what the flow knows. */
  readonly known: unknown[]
  state: 'running' | 'answered' | 'refused' | 'aborted' | 'crashed'
  release: (() => void) | undefined
  next: string | undefined
  /** The refresh token it got, or the status of its refusal. */
  outcome: string | number | undefined
}

/** A step of a run: a statement or a fate of an exchange by its index, or a request by a tab. */
export type Choice = readonly ['statement' | 'abort' | 'crash' | 'ask', number]
