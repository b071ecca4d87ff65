import type { MigrationWarning, PlannedStatement } from 'mortar'
import { missingTable } from 'mortar/kit'
import type { Facts, Rows } from './facts.ts'
import { RULES } from './lock-rules.ts'
import { type Operation, operationsOf, pattern, plainName } from './parse-statement.ts'
import { requiredColumn } from './questions.ts'
import type { LockRule } from './rule.ts'

/** A statement of a migration that was not run. */
export interface RecordedStatement {
  readonly sql: string
  readonly parameters: number
  readonly inBatch: boolean
}

/** The database, as the rules read it. */
export interface PlanContext {
  readonly dialect: Facts['dialect']
  /** True for a database that does not exist yet. */
  readonly isNew: boolean
  /** Number of rows from which a table is large. */
  readonly large: number
  readonly ask: (sql: string, parameters?: readonly unknown[]) => Promise<Rows>
}

/** Finds the warnings of one migration after the other, because a table that the plan makes needs none. */
export class WarningFinder {
  readonly #context: PlanContext
  readonly #created = new Set<string>()
  /** New names of tables that were renamed. */
  readonly #renamed = new Map<string, string>()
  readonly #required = new Set<string>()
  /** Columns by the constraints that require them and are not validated. */
  readonly #checks = new Map<string, string>()
  readonly #sizes = new Map<string, Promise<number | undefined | 'missing'>>()

  constructor(context: PlanContext) {
    this.#context = context
  }

  async find(statements: readonly RecordedStatement[], inTransaction: boolean): Promise<PlannedStatement[]> {
    const operations = statements.map(({ sql }) => operationsOf(sql))
    const rebuilt = findRebuilt(operations.flat())
    const definitions = new Map<string, string>()
    const notValid = new Set<string>()
    let checksForeignKeys = true
    const planned: PlannedStatement[] = []
    for (const [at, { sql, parameters, inBatch }] of statements.entries()) {
      const warnings: MigrationWarning[] = []
      const [, checks] = /^SET (?:SESSION )?foreign_key_checks ?= ?(\w+)/i.exec(sql) ?? []
      if (checks !== undefined) checksForeignKeys = !/^(0|off)$/i.test(checks)
      for (const operation of operations[at]!) {
        const facts: Facts = {
          ...this.#context,
          inTransaction,
          inBatch,
          checksForeignKeys,
          notValid,
          isRequired: (column) => this.#required.has(column),
          isRebuilt: (path) => rebuilt.has(this.#original(path)),
          definitionOf: (path) => definitions.get(plainName(path)),
        }
        warnings.push(...(await this.#warningsOf(operation, facts)))
        this.#noteTable(operation, facts, definitions)
        this.#noteCheck(operation, notValid)
      }
      planned.push({ sql, parameters, warnings })
    }
    return planned
  }

  async #warningsOf(operation: Operation, facts: Facts): Promise<MigrationWarning[]> {
    const table = this.#original(operation.path)
    const warnings: MigrationWarning[] = []
    for (const rule of RULES[facts.dialect]) {
      if (!rule.on.test(operation.text) || rule.not?.test(operation.statement) === true) continue
      if (rule.kind.endsWith('-table') && facts.isRebuilt(operation.path)) continue
      const rows = rule.tables === 'every' ? undefined : await this.#rowsOf(table, operation.path)
      if (!concerns(rule, rows, this.#context.large) || (rule.when && !(await rule.when(operation, facts))))
        continue
      const { kind, lock, instead } = rule
      warnings.push({ kind, table, lock, instead, ...(typeof rows === 'number' && { rows }) })
    }
    return warnings
  }

  /** The name in the database of a table that the plan has renamed. */
  #original(path: string): string {
    const name = plainName(path)
    return this.#renamed.get(name) ?? name
  }

  /** Counts no more rows than make a table large; undefined if the database does not tell. */
  #rowsOf(table: string, path: string): Promise<number | undefined | 'missing'> {
    if (this.#context.isNew || this.#created.has(plainName(path))) return Promise.resolve('missing')
    const known = this.#sizes.get(table)
    if (known !== undefined) return known
    const { ask, large } = this.#context
    const place = plainName(path) === table ? path : path.replace(plainName(path), table)
    const asked = ask(`SELECT COUNT(*) AS found FROM (SELECT 1 FROM ${place} LIMIT ${large}) AS part`).then(
      ([row]) => Number(row?.['found']),
      (error: unknown) => (missingTable(error) === undefined ? undefined : ('missing' as const)),
    )
    this.#sizes.set(table, asked)
    return asked
  }

  #noteTable(
    { path, text, statement }: Operation,
    { isRebuilt }: Facts,
    definitions: Map<string, string>,
  ): void {
    const name = plainName(path)
    if (/^CREATE .*?TABLE /i.test(text)) {
      definitions.set(name, text)
      if (!isRebuilt(path) && !/ IF NOT EXISTS /i.test(text)) this.#created.add(name)
    }
    const [, to] = RENAME.exec(statement) ?? []
    if (to === undefined) return
    if (this.#created.has(name)) this.#created.add(plainName(to))
    else if (!isRebuilt(to)) this.#renamed.set(plainName(to), this.#original(path))
  }

  #noteCheck({ path, text }: Operation, notValid: Set<string>): void {
    const [, name] = pattern('^ADD CONSTRAINT (NAME) ').exec(text) ?? []
    const column = requiredColumn(text)
    const required = column === undefined ? undefined : `${plainName(path)}.${column}`
    if (name !== undefined && /\bNOT VALID\b/i.test(text)) {
      notValid.add(name)
      if (required !== undefined) this.#checks.set(name, required)
    } else if (required !== undefined) this.#required.add(required)
    const validated = this.#checks.get(text.replace(/^VALIDATE CONSTRAINT /i, ''))
    if (validated !== undefined) this.#required.add(validated)
  }
}

const RENAME = pattern(
  '(?:RENAME (?:TO|AS) |^RENAME TABLE NAME TO |RENAME (?!COLUMN |INDEX |KEY |CONSTRAINT ))(NAME)$',
)

/** Tables that exist, and that the migration copies, drops or renames, and makes anew in another form. */
function findRebuilt(operations: readonly Operation[]): ReadonlySet<string> {
  const copied = new Set(
    operations.flatMap(({ path, text }) => (/^INSERT /i.test(text) ? [plainName(path)] : [])),
  )
  const made = new Set<string>()
  /** The present name of each table that existed. */
  const gone = new Map<string, string>()
  const rebuilt = new Set<string>()
  for (const { path, text } of operations) {
    const [name, to] = [path, RENAME.exec(text)?.[1] ?? path].map(plainName) as [string, string]
    const appears = to !== name || /^CREATE .*?TABLE /i.test(text) ? to : ''
    if (copied.has(gone.get(appears) ?? '')) rebuilt.add(appears)
    else made.add(appears)
    const disappears = to !== name || /^DROP TABLE /i.test(text)
    if (disappears && !made.has(name)) gone.set(name, to)
  }
  return rebuilt
}

function concerns({ tables }: LockRule, rows: number | undefined | 'missing', large: number): boolean {
  if (tables === 'every') return true
  if (rows === 'missing') return false
  return rows === undefined || rows >= { any: 0, filled: 1, large }[tables]
}
