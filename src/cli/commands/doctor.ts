import type { DoctorLevel } from '../../contracts/doctor-finding.ts'
import { counted } from '../../support/counted.ts'
import { loadEnvFiles } from '../../support/env/env-files.ts'
import { processVariables, type Variables } from '../../support/env/environment.ts'
import { COUNT_VARIABLE } from '../../support/env/process-share.ts'
import type { Command, CommandInput } from '../command.ts'
import { checkApplication } from '../doctor/check-application.ts'
import { checkBricks } from '../doctor/check-bricks.ts'
import { checkBuild } from '../doctor/check-build.ts'
import { checkEnvironment } from '../doctor/check-environment.ts'
import { checkDependencies, checkImports } from '../doctor/check-imports.ts'
import { checkInstallation } from '../doctor/check-installation.ts'
import { type Finding, findingsOf } from '../doctor/finding.ts'
import { inspectProject } from '../project/inspect-project.ts'
import { findProject, type Project, PROJECT_OPTIONS } from '../project/project.ts'
import type { Paint } from '../terminal.ts'
import { readWorkerCount } from '../workers/worker-options.ts'

/** Reports faults that would stop the application from starting, and risks that a start does not notice. */
export const doctor: Command = {
  name: 'doctor',
  summary: 'Check the set-up and print a remedy for each finding',
  usage: 'doctor [--json]',
  options: { ...PROJECT_OPTIONS, json: { type: 'boolean', help: 'print JSON' } },
  async run(input) {
    const findings = inOrder(await examine(input))
    const ok = findings.every(({ level }) => level === 'note')
    const { terminal } = input
    if (input.values['json'] === true) terminal.print(JSON.stringify({ ok, findings }, null, 2))
    else {
      for (const found of findings) terminal.print(describe(found, terminal.paint))
      terminal.note(summary(findings))
    }
    return ok ? 0 : 1
  },
}

/** Runs every check, also after another one failed, so that one fault does not hide the others. */
async function examine(input: CommandInput): Promise<Finding[]> {
  const findings: Finding[] = []
  const look = async (work: () => Finding[] | Promise<Finding[]>): Promise<void> => {
    try {
      findings.push(...(await work()))
    } catch (error) {
      findings.push(...findingsOf(error))
    }
  }
  let project: Project | undefined
  await look(() => {
    project = findProject(input)
    return checkInstallation(project)
  })
  if (project === undefined) return findings
  const present = project
  await look(() => {
    loadEnvFiles(present.root)
    return checkEnvironment(present.root, processVariables())
  })
  await look(() => countProcesses(processVariables()))
  await look(() => examineApplication(present))
  await look(() => [...checkImports(present), ...checkDependencies(present)])
  await look(() => checkBuild(present))
  return findings
}

/** Sets the number of processes to that of `mortar start`, so that bricks judge the set-up that will run. */
function countProcesses(variables: Variables): Finding[] {
  const count = readWorkerCount(undefined, variables)
  if (count !== undefined) variables[COUNT_VARIABLE] = String(count)
  return []
}

async function examineApplication(project: Project): Promise<Finding[]> {
  const inspected = await inspectProject(project)
  const findings = [...inspected.problems.flatMap(findingsOf), ...checkApplication(inspected)]
  // With placeholders for variables, a brick would check an address that does not exist.
  const complete = inspected.problems.length === 0
  try {
    inspected.resolveSingletons()
    return [...findings, ...(complete ? await checkBricks(inspected) : [])]
  } catch (error) {
    return [...findings, ...findingsOf(error)]
  }
}

const LEVELS: readonly DoctorLevel[] = ['error', 'warning', 'note']

function inOrder(findings: readonly Finding[]): Finding[] {
  const unique = new Map(findings.map((found) => [`${found.code} ${found.found}`, withPage(found)]))
  return LEVELS.flatMap((level) => [...unique.values()].filter((found) => found.level === level))
}

/** Pages of the framework as an application finds them, below its own folder. */
function withPage(found: Finding): Finding {
  return found.page.startsWith('docs/') ? { ...found, page: `node_modules/mortar/${found.page}` } : found
}

function describe({ level, code, found, remedy, page }: Finding, paint: Paint): string {
  const colour = { error: paint.red, warning: paint.yellow, note: paint.dim }[level]
  return `${colour(level.padEnd(7))} ${found}\n        ${remedy}\n        ${paint.dim(`${code}, ${page}`)}`
}

function summary(findings: readonly Finding[]): string {
  const count = (level: DoctorLevel): number => findings.filter((found) => found.level === level).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (errors + warnings === 0) return 'No errors or warnings.'
  return `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`
}
