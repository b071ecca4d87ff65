import { type Command, type CommandInput, readTime, textOf } from '../command.ts'
import { findRoot } from '../project/project.ts'
import { stateFolder } from '../project/state-folder.ts'
import type { Reply } from '../workers/ask-primary.ts'

/** Exit code of a wait that has ended before the reload, unlike 1 for a reload that failed. */
const STILL_RUNNING = 3
const DEFAULT_LIMIT = '10m'

/** Asks the running primary process to replace its workers. */
export const reload: Command = {
  name: 'reload',
  summary: 'Replace the running workers by new ones, which run the current build',
  usage: 'reload [--wait] [--timeout TIME] [--json]',
  options: {
    wait: { type: 'boolean', help: 'wait until the new workers are live, or say why they are not' },
    timeout: { type: 'string', help: `how long --wait waits; ${DEFAULT_LIMIT} by default` },
    json: { type: 'boolean', help: 'print JSON' },
  },
  async run(input) {
    const limit = readTime('timeout', textOf(input, 'timeout') ?? DEFAULT_LIMIT)
    const { askToReload } = await import('../workers/ask-primary.ts')
    const isWaiting = input.values['wait'] === true
    const folder = stateFolder(findRoot(input.directory))
    return show(await askToReload(folder, { limit: isWaiting ? limit : undefined }), input)
  },
}

function show(reply: Reply, { terminal, values }: CommandInput): number {
  if (values['json'] === true) terminal.print(JSON.stringify(reply))
  else if (reply.outcome === 'completed' || reply.outcome === 'accepted') terminal.print(describe(reply))
  else terminal.note(describe(reply))
  if (reply.outcome === 'timeout') return STILL_RUNNING
  return reply.outcome === 'completed' || reply.outcome === 'accepted' ? 0 : 1
}

function describe(reply: Reply): string {
  switch (reply.outcome) {
    case 'accepted':
      return 'The reload has begun.'
    case 'completed':
      return `The reload is complete: ${reply.workers} ${reply.workers === 1 ? 'worker is' : 'workers are'} new.`
    case 'timeout':
      return 'The reload has not ended in this time. It continues.'
    case 'refused':
      return `The reload was refused: ${reply.message}`
    case 'failed':
      return `The reload failed: ${reply.message}${reply.reason === undefined ? '' : `\nReason: ${reply.reason}`}`
  }
}
