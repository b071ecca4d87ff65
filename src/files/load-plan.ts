import { StartupErrors } from '../errors/startup-error.ts'
import type { RouteBatch } from '../routing/route-sink.ts'
import { inFileOrder, prefixOf, shownFrom } from './diagnostics.ts'
import type { ImportedModules } from './import-modules.ts'
import type { RoutePlan } from './plan-routes.ts'
import { readRoutes } from './read-routes.ts'

/** A directory, the plan of its files, and the receiver of warnings. */
export interface PlannedDirectory {
  readonly directory: string
  readonly plan: RoutePlan
  readonly warn: (message: string) => void
}

/** Reads the modules of a plan. @throws StartupErrors with every broken convention. */
export function readPlan({ directory, plan, warn }: PlannedDirectory, imported: ImportedModules): RouteBatch {
  const prefix = prefixOf(directory)
  const reading = readRoutes(plan.files, imported.modules, prefix)
  for (const warning of [...plan.warnings, ...reading.warnings]) warn(prefix + warning)
  if (plan.files.length === 0 && plan.problems.length === 0) warn(`There is no route file in ${directory}.`)
  const problems = inFileOrder([...plan.problems, ...imported.problems, ...reading.problems])
  if (problems.length > 0)
    throw new StartupErrors(summaryOf(problems.length, directory), shownFrom(directory, problems))
  return { ...reading.batch, directory }
}

function summaryOf(count: number, directory: string): string {
  return `${count} broken ${count === 1 ? 'convention' : 'conventions'} in the routes of ${directory}:`
}
