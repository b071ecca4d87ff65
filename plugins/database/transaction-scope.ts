import { AsyncLocalStorage } from 'node:async_hooks'
import type { Hold, TransactionGate } from './transaction-gate.ts'

/** One call of `transaction()`, `save()` and the like, and all that runs because of it. */
interface Scope {
  readonly gate: TransactionGate
  /** Known once its transaction has begun. */
  hold: Hold | undefined
  readonly outer: Scope | undefined
}

/**
 * One for all connections. Before Node 24 its first use slows every promise of the process (0.10 to 0.24 µs each,
 * measured on Node 20 and 22), and each further `AsyncLocalStorage` would slow them more.
 */
const scopes = new AsyncLocalStorage<Scope>()

/** Runs work whose transaction, once begun, is known to everything that the work calls. */
export function inScope<T>(gate: TransactionGate, work: () => T, hold?: Hold): T {
  return scopes.run({ gate, hold, outer: scopes.getStore() }, work)
}

/** Notes that the transaction of the innermost scope has begun. One begun without a scope is not noted. */
export function noteTransaction(gate: TransactionGate): void {
  for (let scope = scopes.getStore(); scope; scope = scope.outer)
    if (scope.gate === gate) {
      scope.hold ??= gate.current
      return
    }
}

/** Whether the present call belongs to the transaction that is open now, so that waiting for its end never ends. */
export function isInsideTransaction(gate: TransactionGate): boolean {
  for (let scope = scopes.getStore(); scope; scope = scope.outer)
    if (scope.gate === gate && scope.hold !== undefined && scope.hold === gate.current) return true
  return false
}
