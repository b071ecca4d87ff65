import type { DoctorFinding, DoctorLevel } from '../../contracts/doctor-finding.ts'
import { placeOfError } from '../../support/place-of-error.ts'
import { StartupErrors, type StartupError } from '../../errors/startup-error.ts'

/** A finding with its level, code, text, remedy and page. */
export type Finding = DoctorFinding

/** Makes a finding of the command itself; `docs/startup-errors.md` has a row for each code. */
export function finding(
  level: DoctorLevel,
  code: `MORTAR_DOCTOR_${string}`,
  found: string,
  remedy: string,
): Finding {
  return { level, code, found, remedy, page: 'docs/startup-errors.md' }
}

/** Turns an error into findings, one for each fault that it contains. */
export function findingsOf(error: unknown): Finding[] {
  if (error instanceof StartupErrors || hasErrors(error)) return error.errors.flatMap(findingsOf)
  if (isStartupError(error))
    return [
      {
        level: 'error',
        code: error.code,
        found: error.message.split('\n  Remedy: ')[0]!,
        remedy: error.remedy,
        page: error.page ?? 'docs/startup-errors.md',
      },
    ]
  return [unforeseen(error)]
}

function unforeseen(error: unknown): Finding {
  const text = String((error as Partial<Error> | null)?.message ?? error).split('\n')[0]!
  const place = placeOfError(error)
  const name = error instanceof Error ? error.name : 'An error'
  return finding(
    'error',
    'MORTAR_DOCTOR_IMPORT',
    `The application cannot be assembled: ${name}: ${text}${place === undefined ? '' : ` (${place})`}`,
    'Fix the module at the place that the message names.',
  )
}

/** Checks the name and not the class, because an application may have another copy of the framework. */
export function isStartupError(error: unknown): error is StartupError {
  return error instanceof Error && error.name === 'StartupError' && 'remedy' in error
}

function hasErrors(error: unknown): error is StartupErrors {
  return isStartupError(error) && Array.isArray((error as Partial<StartupErrors>).errors)
}
