/** One server during one round. */
export interface Round {
  /** Microseconds of the server's CPU per response. */
  readonly cpu: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p99: number
  /** Share of the client's core that was in use. */
  readonly clientBusy: number
}

/** All rounds of one server under one workload. */
export interface Series {
  readonly server: string
  readonly rounds: Round[]
  readonly startMs: number
  /** Bytes after the last round, of the largest process. */
  rss: number
}
