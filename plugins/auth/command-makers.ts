import type { StartupError, BrickCommand, BrickCommandInput, BrickCommandResult, Cradle } from 'mortar'
import { printable } from 'mortar/kit'
import type { Account, AccountOperations } from './flows/accounts.ts'
import type { ConnectedProvider } from './provider.ts'
import { fault } from './startup-codes.ts'

/** Items of one page by default. */
export const DEFAULT_PAGE = 50
const LONGEST_PAGE = 1000

/** A command on one account, which the first argument names by id or address. */
export type OnAccount = (account: Account, tools: Tools) => Promise<BrickCommandResult>

/** The provider of the application, and the command line. */
export interface Tools {
  readonly accounts: AccountOperations
  readonly provider: ConnectedProvider
  readonly input: BrickCommandInput
}

/** Makes the commands of a provider: those on one account, and those without an argument. */
export function commandMakers(providerName: string) {
  const needs = ['database']
  const onAccount = (summary: string, run: OnAccount): BrickCommand => ({
    summary,
    usage: 'USER',
    needs,
    async run(input, services) {
      const tools = toolsOf(providerName, input, services)
      const [key, ...rest] = input.positionals
      if (key === undefined || rest.length > 0) throw new RangeError('Name one user, by id or address.')
      const account = await tools.accounts.find(key)
      if (account === null) throw unknownUser(key)
      return run(account, tools)
    },
  })
  const plain = (summary: string, run: (tools: Tools) => Promise<BrickCommandResult>): BrickCommand => ({
    summary,
    usage: '',
    needs,
    async run(input, services) {
      if (input.positionals.length > 0) throw new RangeError('This command accepts no names.')
      return run(toolsOf(providerName, input, services))
    },
  })
  return { onAccount, plain }
}

/** @throws StartupError `MORTAR_AUTH_ACCOUNTS` for a provider that keeps its accounts elsewhere. */
function toolsOf(name: string, input: BrickCommandInput, services: Cradle): Tools {
  const provider = services['authProvider'] as ConnectedProvider
  const { accounts } = provider
  if (accounts !== undefined) return { accounts, provider, input }
  throw fault('MORTAR_AUTH_ACCOUNTS', `The auth provider '${name}' keeps its accounts elsewhere.`, {
    remedy: 'Use the tools of the service or library that it connects to.',
  })
}

function unknownUser(key: string): StartupError {
  return fault('MORTAR_AUTH_ACCOUNTS', `There is no account '${printable(key)}'.`, {
    remedy: 'Look for it: npx mortar auth users --search TEXT',
  })
}

/** Returns the value of `--limit`. @throws RangeError. */
export function readLimit(given: unknown): number {
  const limit = Number(given)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LONGEST_PAGE) return limit
  throw new RangeError(`--limit is '${String(given)}'. Write a whole number from 1 to ${LONGEST_PAGE}.`)
}
