import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { WireRequest, Workload } from '../../bench/workloads/workload.ts'
import { ROOT } from '../architecture/tree.ts'

/** Servers of a workload, as the bench starts them. */
interface Spec {
  readonly name: string
  readonly peer: string
  readonly app: string
}

interface Options {
  readonly workloads: readonly string[]
  readonly peers: readonly string[] | undefined
  readonly out: string | undefined
}

/** The modules of the bench that import its plain JavaScript, which this project's type check does not read. */
interface Modules {
  readonly 'workloads/all.ts': {
    readonly WORKLOADS: readonly Workload[]
    readonly WHOLE_RUN: readonly string[]
  }
  readonly 'peers.ts': {
    readonly PEERS: readonly string[]
    serversOf(workload: Workload, choice: { peers: readonly string[] | undefined; builds: [] }): Spec[]
  }
  readonly 'options.ts': { readonly RESULTS: string; readOptions(argv: readonly string[]): Options }
  readonly 'load/prepared.ts': {
    prepare(requests: readonly WireRequest[]): {
      bytes: Uint8Array
      ends: Uint32Array
      tails: readonly Uint8Array[]
      tailOf: Int16Array
    }
  }
  readonly 'load/wire.js': { wireOf(request: WireRequest): string }
}

/** Imports a module of the bench. */
export function importBench<Path extends keyof Modules>(path: Path): Promise<Modules[Path]> {
  return import(pathToFileURL(join(ROOT, 'bench', path)).href) as Promise<Modules[Path]>
}
