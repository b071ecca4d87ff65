import { AsyncLocalStorage } from 'node:async_hooks'
import type { Hold, TransactionGate } from './transaction-gate.ts'

/** The scope of one call of `transaction()`, `save()` or a similar method. */
interface Scope {
  readonly gate: TransactionGate
  /** Set when its transaction has begun. */
  hold: Hold | undefined
  readonly outer: Scope | undefined
}

/**
 * Storage for all connections. Before Node 24 its first use slows every promise of the process (0.10 to 0.24 µs each,
 * measured on Node 20 and 22), and each further `AsyncLocalStorage` would slow them more.
 */
const scopes = new AsyncLocalStorage<Scope>()

/** Runs work in a scope, so that all calls inside know its transaction. */
export function inScope<T>(gate: TransactionGate, work: () => T, hold?: Hold): T {
  return scopes.run({ gate, hold, outer: scopes.getStore() }, work)
}

/** Records that the transaction of the innermost scope has begun. Does nothing without a scope. */
export function noteTransaction(gate: TransactionGate): void {
  for (let scope = scopes.getStore(); scope; scope = scope.outer)
    if (scope.gate === gate) {
      scope.hold ??= gate.current
      return
    }
}

/** Returns true if the current call belongs to the open transaction; waiting for its end would never finish. */
export function isInsideTransaction(gate: TransactionGate): boolean {
  for (let scope = scopes.getStore(); scope; scope = scope.outer)
    if (scope.gate === gate && scope.hold !== undefined && scope.hold === gate.current) return true
  return false
}
