import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { StartupError } from '../../errors/startup-error.ts'
import type { Kind } from './kinds.ts'

const PROBLEMS = channel('mortar:environment')

/** Placeholders for common variables that need a better value than the example of their kind. */
const KNOWN: Readonly<Record<string, string>> = {
  DATABASE_URL: 'sqlite::memory:',
  REDIS_URL: 'redis://localhost:6379',
  METRICS_TOKEN: 'no-token-this-process-only-inspects-the-application',
}

/** Reports a faulty variable during an inspection, without ending the inspection. */
export function noteProblem(problem: StartupError): void {
  PROBLEMS.publish(problem)
}

/** Returns a value of the kind for a missing variable. */
export function placeholderOf<T>(name: string, wanted: Kind<T>): T {
  const parsed = KNOWN[name] === undefined ? undefined : wanted.parse(KNOWN[name])
  // Every example is a value of its kind.
  return parsed ?? (wanted.parse(wanted.placeholder ?? wanted.example) as T)
}

/** Runs work and collects the problems with variables during it, each once. */
export async function collectProblems<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly problems: readonly StartupError[] }> {
  const problems = new Map<string, StartupError>()
  const note = (message: unknown): void => {
    const problem = message as StartupError
    problems.set(problem.message, problem)
  }
  subscribe(PROBLEMS.name, note)
  try {
    const result = await work()
    return { result, problems: [...problems.values()] }
  } finally {
    unsubscribe(PROBLEMS.name, note)
  }
}
