import { AsyncLocalStorage } from 'node:async_hooks'
import type { StatementResult } from './statement-result.ts'

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
  /** The manager of the DataSource. */
  readonly owner: object
  readonly manager: Manager
  /** Calls that wait for the commit. */
  readonly waiting: (() => void)[]
}

const open = new AsyncLocalStorage<Open>()
const followed = new WeakSet<object>()
/** The innermost open transaction of a query runner. */
const openOf = new WeakMap<object, Open>()

/** Lets `openTransaction` see the transactions that `db.transaction()` begins from now on. */
export function followTransactions(db: { readonly manager: unknown }): void {
  follow(db.manager as Manager, db.manager as Manager)
}

function follow(manager: Manager, owner: Manager): void {
  if (followed.has(manager)) return
  followed.add(manager)
  const begin = manager.transaction.bind(manager)
  manager.transaction = async (...given) => {
    const around = manager === owner ? undefined : openOf.get(manager.queryRunner!)
    const waiting: Open['waiting'] = []
    const inside =
      (work: Work): Work =>
      (inner) => {
        const store: Open = { owner, manager: inner, waiting }
        openOf.set(inner.queryRunner ?? inner, store)
        follow(inner, owner)
        return open.run(store, () => work(inner))
      }
    try {
      const result = await begin(
        ...given.map((each) => (typeof each === 'function' ? inside(each as Work) : each)),
      )
      if (around === undefined) for (const act of waiting) act()
      else around.waiting.push(...waiting)
      return result
    } finally {
      if (around !== undefined) openOf.set(manager.queryRunner!, around)
    }
  }
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
 * Returns the query runner of a transaction. `of` names the call in the message.
 * @throws TypeError for something else, such as the DataSource itself.
 */
export function runnerOf(tx: Transaction, of: string): Runner {
  const runner =
    'query' in tx && 'isTransactionActive' in tx ? tx : (tx as { queryRunner?: Runner }).queryRunner
  if (runner?.isTransactionActive === true && !runner.isReleased) return runner
  throw new TypeError(
    `The option tx of ${of} is not an open transaction. Pass the manager of \`db.transaction(async (tx) => …)\` before it ends.`,
  )
}

/**
 * Calls `act` when a transaction of `db.transaction()` has committed, and never if it is rolled back, also to a savepoint.
 * @returns false for a transaction that a query runner of the application has begun: its end is not known.
 */
export function whenCommitted(runner: Runner, act: () => void): boolean {
  const found = openOf.get(runner)
  found?.waiting.push(act)
  return found !== undefined
}
