import { AsyncLocalStorage } from 'node:async_hooks'
import type { StatementResult } from 'mortar/kit'

/** A TypeORM EntityManager inside a transaction, or a query runner with one. */
export type Transaction = { readonly queryRunner?: Runner | undefined } | Runner

/** The used part of TypeORM's query runner. */
export interface Runner {
  readonly isReleased: boolean
  readonly isTransactionActive: boolean
  query(sql: string, values: readonly unknown[], structured: true): Promise<StatementResult>
  release(): Promise<void>
}

/** The used part of TypeORM's manager. */
interface Manager {
  readonly queryRunner?: Runner | undefined
  transaction(...given: readonly unknown[]): Promise<unknown>
}

type Work = (manager: Manager) => unknown

interface Open {
  readonly owner: object
  readonly manager: Manager
}

const open = new AsyncLocalStorage<Open>()
const followed = new WeakSet<object>()

/** Lets `openTransaction` see the transactions that `db.transaction()` begins from now on. */
export function followTransactions(db: { readonly manager: unknown }): void {
  const manager = db.manager as Manager
  if (followed.has(manager)) return
  followed.add(manager)
  const begin = manager.transaction.bind(manager)
  const inside =
    (work: Work): Work =>
    (inner) =>
      open.run({ owner: manager, manager: inner }, () => work(inner))
  manager.transaction = (...given) =>
    begin(...given.map((each) => (typeof each === 'function' ? inside(each as Work) : each)))
}

/** Returns the open transaction of the current call on this connection, if there is one. */
export function openTransaction(db: { readonly manager: unknown }): Transaction | undefined {
  const store = open.getStore()
  if (store === undefined || store.owner !== db.manager) return undefined
  const { queryRunner } = store.manager
  // Work that a transaction has left behind runs on after its end.
  return queryRunner?.isTransactionActive === true && !queryRunner.isReleased ? store.manager : undefined
}

/**
 * Returns the query runner of a transaction.
 * @throws TypeError for something else, such as the DataSource itself.
 */
export function runnerOf(tx: Transaction): Runner {
  const runner =
    'query' in tx && 'isTransactionActive' in tx ? tx : (tx as { queryRunner?: Runner }).queryRunner
  if (runner?.isTransactionActive === true && !runner.isReleased) return runner
  throw new TypeError(
    'The option tx of jobs.add is not an open transaction. Pass the manager of `db.transaction(async (tx) => …)` before it ends.',
  )
}
