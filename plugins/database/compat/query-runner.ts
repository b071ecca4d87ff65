/*
 * The members of TypeORM's query runner for better-sqlite3 by which the transaction gate knows transactions: number 8 of
 * the list in typeorm.ts. Checked by test/plugins/database/drifted-packages.test.ts.
 */
import type { DataSource } from 'typeorm'
import { lacks } from './driver-module.ts'
import { noGate } from './typeorm.ts'

/**
 * Checks the members of a runner by which the gate knows its transactions. The runner runs no statement.
 * @throws StartupError if TypeORM reads other members.
 */
export async function checkRunner(runner: CountingRunner): Promise<void> {
  const statements: string[] = []
  const { query } = runner
  runner.query = async (sql) => void statements.push(sql)
  await runner.startTransaction()
  const isCounted = runner.transactionDepth === 1 && runner.isTransactionActive === true
  runner.transactionDepth = 0
  runner.isTransactionActive = false
  await runner.startTransaction()
  await runner.rollbackTransaction()
  const isOver = runner.transactionDepth === 0 && runner.isTransactionActive === false
  const expected = 'BEGIN TRANSACTION, BEGIN TRANSACTION, ROLLBACK'
  if (!isCounted || !isOver || statements.join(', ') !== expected)
    throw noGate('counts transactions elsewhere, so that the transaction gate cannot see that one is over.')
  runner.isReleased = true
  const runs = await query.call(runner, 'SELECT 1').then(
    () => true,
    () => false,
  )
  if (runs)
    throw noGate('keeps elsewhere that a query runner is released, so that it would run further statements.')
}

/** The members of a runner, some of which TypeORM keeps to itself. */
export interface CountingRunner {
  transactionDepth: unknown
  isTransactionActive: unknown
  isReleased: unknown
  query(sql: string): Promise<unknown>
  startTransaction(): Promise<void>
  rollbackTransaction(): Promise<void>
}

/** A view of a driver whose runners tell no subscriber of their transactions. */
export function withoutSubscribers<Driver extends DataSource['driver']>(driver: Driver): Driver {
  const { dataSource } = driver as unknown as { readonly dataSource?: object }
  if (typeof dataSource !== 'object') throw lacks("keeps no DataSource in 'dataSource' of its driver")
  const silent = Object.create(dataSource, { subscribers: { value: [] } }) as object
  return Object.create(driver, { dataSource: { value: silent } }) as Driver
}
