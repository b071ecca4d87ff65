import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { parseAddressRange } from '../../support/address-range.ts'
import {
  maintenanceFile,
  type MaintenanceState,
  parseMaintenance,
  readMaintenanceFile,
} from '../../support/maintenance-file.ts'
import { type Command, type CommandInput, readTime, textOf, UsageError } from '../command.ts'
import { findRoot } from '../project/project.ts'
import { stateFolder } from '../project/state-folder.ts'
import { replaceFile } from '../replace-file.ts'

/** Exit code of the status while the mode is on. */
const IS_ON = 3

/** Switches the maintenance mode of the processes of this machine. */
export const maintenance: Command = {
  name: 'maintenance',
  summary: 'Respond with 503 to every request on this machine, and end that: on, off, status',
  usage: 'maintenance [status|on|off] [--retry-after TIME] [--allow ADDRESS]… [--json]',
  names: true,
  options: {
    'retry-after': { type: 'string', help: 'when clients may try again; 10m by default' },
    allow: { type: 'string', multiple: true, help: 'address or CIDR of clients that are served' },
    json: { type: 'boolean', help: 'print JSON' },
  },
  async run(input) {
    const [step = 'status', ...rest] = input.positionals
    if (!['status', 'on', 'off'].includes(step) || rest.length > 0)
      throw new UsageError('Write maintenance status, maintenance on or maintenance off.')
    const file = maintenanceFile(stateFolder(findRoot(input.directory)))
    // Readable for the user of the processes, who may be another one.
    if (step === 'on') explained(file, () => replaceFile(file, JSON.stringify(wanted(input)), 0o644))
    if (step === 'off') explained(file, () => rmSync(file, { force: true }))
    const state = explained(file, () => currentState(file))
    show(state, file, input)
    return step === 'status' && state !== undefined ? IS_ON : 0
  },
}

function wanted(input: CommandInput): MaintenanceState {
  const allow = [input.values['allow'] ?? []].flat().map(String)
  const wrong = allow.find((text) => parseAddressRange(text) === undefined)
  if (wrong !== undefined)
    throw new UsageError(
      `--allow is '${wrong}'. Write an address such as 10.0.0.1, or a CIDR such as 10.0.0.0/8.`,
    )
  const retryAfter = readTime('retry-after', textOf(input, 'retry-after') ?? '10m')
  return { since: new Date().toISOString(), retryAfter, allow }
}

function currentState(file: string): MaintenanceState | undefined {
  const text = readMaintenanceFile(file)
  return text === undefined ? undefined : parseMaintenance(text)
}

function show(state: MaintenanceState | undefined, file: string, { terminal, values }: CommandInput): void {
  if (values['json'] === true)
    return terminal.print(JSON.stringify({ maintenance: state === undefined ? 'off' : 'on', ...state, file }))
  if (state === undefined) return terminal.print('The maintenance mode is off.')
  const { since = 'an unknown time', retryAfter, allow } = state
  const served = allow.length === 0 ? 'nobody' : allow.join(', ')
  terminal.print(`The maintenance mode is on since ${since}, Retry-After: ${retryAfter}, served: ${served}.`)
  terminal.note(`Processes with this state folder follow within a second: ${dirname(file)}`)
}

function explained<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === undefined) throw cause
    throw new StartupError(`The file ${file} cannot be read or changed (${code}).`, {
      code: 'MORTAR_CLI_STATE',
      remedy: NO_SPACE.has(code)
        ? 'Free space on the disk, or name a folder of another disk in FRAMEWORK_STATE. Nothing has changed.'
        : 'Run the command as the user of the application or as root, or name a folder in FRAMEWORK_STATE.',
      cause,
    })
  }
}

/** A full disk, and the quota of a user. */
const NO_SPACE: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])
