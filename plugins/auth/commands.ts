import {
  StartupError,
  type BrickCommand,
  type BrickCommandInput,
  type BrickCommandResult,
  type Cradle,
} from 'mortar'
import { inColumns, printable } from 'mortar/kit'
import type { Account, AccountOperations, AccountSession } from './flows/accounts.ts'
import type { ConnectedProvider } from './provider.ts'

const DEFAULT_PAGE = 50
const LONGEST_PAGE = 1000

/** A command on one account, which the first argument names by id or address. */
type OnAccount = (account: Account, tools: Tools) => Promise<BrickCommandResult>

interface Tools {
  readonly accounts: AccountOperations
  readonly provider: ConnectedProvider
  readonly input: BrickCommandInput
}

/** Makes the commands of a provider: those on one account, and those without an argument. */
function commandMakers(providerName: string) {
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

/** The commands `mortar auth …`, for providers with the capability `accounts`. */
export function accountCommands(providerName: string): Readonly<Record<string, BrickCommand>> {
  const { onAccount, plain } = commandMakers(providerName)
  return {
    users: {
      ...plain('list accounts by address', listUsers),
      usage: '[--search TEXT] [--limit N] [--after ADDRESS]',
      options: {
        search: { type: 'string', help: 'a part of the address or the name' },
        limit: { type: 'string', help: `accounts of one page; ${DEFAULT_PAGE} by default` },
        after: { type: 'string', help: 'the last address of the page before' },
      },
    },
    disable: onAccount(
      'refuse logins of an account, and end its sessions',
      async ({ id, email }, { accounts }) => {
        await accounts.disable(id)
        return { json: { id, disabled: true }, text: `${email} is disabled, and every session has ended.` }
      },
    ),
    enable: onAccount('let a disabled account log in again', async ({ id, email }, { accounts }) => {
      await accounts.enable(id)
      return { json: { id, disabled: false }, text: `${email} is enabled.` }
    }),
    sessions: onAccount('list the sessions of an account', listSessions),
    'sign-out': {
      ...onAccount('end every session of an account, or one', signOut),
      usage: 'USER [--session ID]',
      options: { session: { type: 'string', help: 'the session to end; all of them by default' } },
    },
    'reset-link': onAccount('print a link that sets a new password', resetLink),
    'remove-factor': onAccount('remove the second factor of a user who has lost it', removeFactor),
    reseal: plain('seal the secrets of second factors with the first secret', reseal),
    prune: plain('delete expired sessions and reset tokens', async ({ accounts }) => {
      const deleted = await accounts.prune()
      const { sessions, resetTokens, endedSessions } = deleted
      const text = `Deleted: ${sessions} sessions, ${resetTokens} reset tokens, ${endedSessions} records of ended sessions.`
      return { json: deleted, text }
    }),
  }
}

/** @throws StartupError `MORTAR_AUTH_ACCOUNTS` for a provider that keeps its accounts elsewhere. */
function toolsOf(name: string, input: BrickCommandInput, services: Cradle): Tools {
  const provider = services['authProvider'] as ConnectedProvider
  const { accounts } = provider
  if (accounts !== undefined) return { accounts, provider, input }
  throw new StartupError(`The auth provider '${name}' keeps its accounts elsewhere.`, {
    code: 'MORTAR_AUTH_ACCOUNTS',
    remedy: 'Use the tools of the service or library that it connects to.',
    brick: 'auth',
  })
}

async function listUsers({ accounts, input: { values } }: Tools): Promise<BrickCommandResult> {
  const limit = readLimit(values['limit'])
  const search = String(values['search'] ?? '')
  // One more than a page tells if there is another.
  const found = await accounts.list({ search, after: String(values['after'] ?? ''), limit: limit + 1 })
  const users = found.slice(0, limit)
  const next = found.length > limit ? users.at(-1)!.email : null
  const rows = users.map(({ id, email, name, isDisabled, hasFactor }) => [
    printable(email),
    id,
    isDisabled ? 'disabled' : '',
    ...(hasFactor === undefined ? [] : [hasFactor ? 'second factor' : '']),
    printable(name),
  ])
  const more = next === null ? '' : `\nMore: --after '${printable(next)}'`
  return { json: { users, next }, text: users.length === 0 ? 'No accounts.' : inColumns(rows) + more }
}

function readLimit(given: unknown): number {
  const limit = Number(given ?? DEFAULT_PAGE)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LONGEST_PAGE) return limit
  throw new RangeError(`--limit is '${String(given)}'. Write a whole number from 1 to ${LONGEST_PAGE}.`)
}

async function listSessions({ id }: Account, { accounts }: Tools): Promise<BrickCommandResult> {
  const sessions = await accounts.sessions(id)
  return {
    json: { id, sessions },
    text: sessions.length === 0 ? 'No sessions.' : inColumns(sessions.map(rowOf)),
  }
}

function rowOf({ id, isActive, createdAt, refreshedAt, expiresAt }: AccountSession): string[] {
  return [
    id,
    isActive ? 'active' : 'ended',
    `since ${createdAt}`,
    `refreshed ${refreshedAt}`,
    `until ${expiresAt}`,
  ]
}

async function signOut(
  { id, email }: Account,
  { accounts, provider, input }: Tools,
): Promise<BrickCommandResult> {
  const { session } = input.values
  if (session === undefined) {
    await provider.signOut!(id)
    return { json: { id, signedOut: true }, text: `Every session of ${email} has ended.` }
  }
  if (await accounts.endSession(id, String(session)))
    return { json: { id, session, signedOut: true }, text: `The session ${String(session)} has ended.` }
  throw new StartupError(`${email} has no session '${String(session)}'.`, {
    code: 'MORTAR_AUTH_ACCOUNTS',
    remedy: `List them: mortar auth sessions ${id}`,
    brick: 'auth',
  })
}

async function resetLink({ id, email }: Account, { accounts }: Tools): Promise<BrickCommandResult> {
  const made = await accounts.resetLink(id)
  if (made !== null) return { json: { id, ...made }, text: made.link }
  throw new StartupError(`${email} is disabled, and a disabled account accepts no reset link.`, {
    code: 'MORTAR_AUTH_ACCOUNTS',
    remedy: `Enable it first: mortar auth enable ${id}`,
    brick: 'auth',
  })
}

async function removeFactor({ id, email }: Account, { accounts }: Tools): Promise<BrickCommandResult> {
  if (accounts.removeFactor === undefined) throw withoutFactors()
  const removed = await accounts.removeFactor(id)
  const text = removed ? `${email} logs in with the password alone.` : `${email} has no second factor.`
  return { json: { id, removed }, text }
}

async function reseal({ accounts }: Tools): Promise<BrickCommandResult> {
  if (accounts.reseal === undefined) throw withoutFactors()
  const done = await accounts.reseal()
  if (done.unreadable === 0) return { json: done, text: `Resealed: ${done.resealed}.` }
  throw new StartupError(
    `Resealed: ${done.resealed}. ${done.unreadable} need a secret that is not in AUTH_SECRETS.`,
    {
      code: 'MORTAR_AUTH_SEALED',
      remedy: 'Append the old secret to the list and run the command again, or remove these factors.',
      brick: 'auth',
    },
  )
}

function withoutFactors(): StartupError {
  return new StartupError('The auth provider has no second factors.', {
    code: 'MORTAR_AUTH_ACCOUNTS',
    remedy: 'Add totp() to the option features.',
    brick: 'auth',
  })
}

function unknownUser(key: string): StartupError {
  return new StartupError(`There is no account '${printable(key)}'.`, {
    code: 'MORTAR_AUTH_ACCOUNTS',
    remedy: 'Look for it: mortar auth users --search TEXT',
    brick: 'auth',
  })
}
