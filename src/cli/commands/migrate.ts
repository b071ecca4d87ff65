import { StartupError } from '../../errors/startup-error.ts'
import type { MigrationService, PlannedMigration } from '../../contracts/migrations.ts'
import { counted } from '../../support/counted.ts'
import { didYouMean } from '../../support/nearest.ts'
import { type Command, type CommandInput, textOf, UsageError } from '../command.ts'
import { assembleProject } from '../project/inspect-project.ts'
import { migrationsOf } from '../project/migration-service.ts'
import { findProject, PROJECT_OPTIONS, shown } from '../project/project.ts'

/** Steps of the command and their output. In production, steps that lose data require `--force`. */
const STEPS = {
  status: printStatus,
  plan: printPlan,
  run: runPending,
  revert,
  generate,
  fresh,
} as const satisfies Record<string, Step>

type Step = (migrations: MigrationService, input: CommandInput) => Promise<number>

const DESTRUCTIVE = new Set(['revert', 'fresh'])

/** Works on the migrations of the application's database, in this process. */
export const migrate: Command = {
  name: 'migrate',
  summary: 'Work on the migrations of the database: status, plan, run, revert, generate NAME, fresh',
  usage: 'migrate [status|plan|run|revert|generate NAME|fresh] [--large ROWS] [--json] [--force]',
  names: true,
  options: {
    ...PROJECT_OPTIONS,
    force: { type: 'boolean', help: 'allow revert and fresh in production, where they lose data' },
    large: {
      type: 'string',
      help: 'number of rows from which plan warns of the time of a lock; 100000 by default',
    },
    json: { type: 'boolean', help: 'print the status or the plan as JSON' },
  },
  async run(input) {
    const step = stepOf(input)
    const inspection = await assembleProject(findProject(input))
    if (
      DESTRUCTIVE.has(step) &&
      inspection.options.environment === 'production' &&
      input.values['force'] !== true
    )
      throw notInProduction(step)
    const migrations = migrationsOf(inspection)
    // A connection would make the file.
    if ((step === 'status' || step === 'plan') && migrations.missingFile() !== undefined)
      return STEPS[step](migrations, input)
    return migrations.connected(() => STEPS[step](migrations, input))
  },
}

function stepOf({ positionals: [step = 'status', name, ...rest] }: CommandInput): keyof typeof STEPS {
  if (!Object.hasOwn(STEPS, step)) {
    const hint = didYouMean(step, Object.keys(STEPS), 'See: npx mortar help migrate')
    throw new UsageError(`'${step}' is not a step of migrate. ${hint}`)
  }
  const takesName = step === 'generate'
  if (takesName && name === undefined)
    throw new UsageError("Give the migration a name: npx mortar migrate generate 'add tags'")
  if (rest.length > 0 || (!takesName && name !== undefined))
    throw new UsageError(`migrate ${step} accepts ${takesName ? 'one name; put it in quotes' : 'no name'}.`)
  // Just looked up.
  return step as keyof typeof STEPS
}

/** Exit code of the status while migrations are pending, unlike 1 for an error: a deployment can test it. */
const PENDING = 3

async function printStatus(
  migrations: MigrationService,
  { terminal, values }: CommandInput,
): Promise<number> {
  const all = await migrations.status()
  if (values['json'] === true) terminal.print(JSON.stringify(all, null, 2))
  else if (all.length === 0) terminal.note('There are no migrations.')
  else terminal.print(all.map(({ state, name }) => `${state.padEnd(8)} ${name}`).join('\n'))
  if (all.some(({ state }) => state === 'missing'))
    terminal.note(
      'missing: it was applied, and its file is gone. Restore the file from version control: revert needs it.',
    )
  return all.some(({ state }) => state === 'pending') ? PENDING : 0
}

/** Exit code of a plan with warnings. */
const WARNED = 4

async function printPlan(migrations: MigrationService, input: CommandInput): Promise<number> {
  const { terminal, values, directory } = input
  const given = textOf(input, 'large')
  if (given !== undefined && !/^[1-9]\d*$/.test(given))
    throw new UsageError(`--large needs a number of rows, not '${given}'.`)
  const plan = await migrations.plan(given === undefined ? {} : { large: Number(given) })
  const warnings = plan.flatMap(({ statements }) => statements.flatMap(({ warnings: found }) => found)).length
  const isComplete = plan.every(({ incomplete }) => incomplete === undefined)
  if (values['json'] === true) terminal.print(JSON.stringify(plan, null, 2))
  else if (plan.length === 0) terminal.note('Nothing is pending.')
  else terminal.print(plan.map((migration) => renderPlanned(migration, directory)).join('\n\n'))
  if (warnings > 0) terminal.note(`${counted(warnings, 'warning')}.`)
  return warnings > 0 || !isComplete ? WARNED : 0
}

/** Renders SQL with the warnings as comments. */
function renderPlanned(
  { name, file, transaction, statements, incomplete }: PlannedMigration,
  directory: string,
): string {
  const place = file === 'a class' ? '' : ` (${shown(file, directory)})`
  const lines = statements.flatMap(({ sql, parameters, warnings }) => [
    ...warnings.map(
      ({ kind, table, rows, lock, instead }) =>
        `-- WARNING ${kind}: ${table}${rows ? ` (at least ${counted(rows, 'row')})` : ''}. ${lock}\n--   Instead: ${instead}`,
    ),
    `${sql.trim().replace(/;$/, '')};${parameters === 0 ? '' : ` -- ${counted(parameters, 'parameter')}`}`,
  ])
  if (incomplete !== undefined) lines.push(`-- WARNING: further statements are not known: ${incomplete}`)
  return [`-- ${name}${place}${transaction ? '' : ', without a transaction'}`, ...lines].join('\n')
}

async function runPending(migrations: MigrationService, { terminal }: CommandInput): Promise<number> {
  const names = await migrations.run((name) => terminal.print(`applied  ${name}`))
  if (names.length === 0) terminal.note('Nothing is pending.')
  return 0
}

async function revert(migrations: MigrationService, { terminal }: CommandInput): Promise<number> {
  const name = await migrations.revert()
  if (name === undefined) terminal.note('Nothing was applied.')
  else terminal.print(`reverted ${name}`)
  return 0
}

async function generate(migrations: MigrationService, input: CommandInput): Promise<number> {
  const written = await migrations.generate(input.positionals[1] ?? '')
  if (written === undefined)
    input.terminal.note('The database already matches the schema. No migration was written.')
  else input.terminal.print(`wrote    ${shown(written.file, input.directory)}`)
  return 0
}

async function fresh(migrations: MigrationService, { terminal }: CommandInput): Promise<number> {
  terminal.note('Dropping every table.')
  const names = await migrations.fresh((name) => terminal.print(`applied  ${name}`))
  if (names.length === 0) terminal.note('There are no migrations.')
  return 0
}

function notInProduction(step: string): StartupError {
  return new StartupError(`migrate ${step} loses data and does not run in production without --force.`, {
    code: 'MORTAR_CLI_PRODUCTION',
    remedy: 'Make a backup first, then repeat the command with --force.',
  })
}
