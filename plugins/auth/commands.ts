import type { BrickCommand, BrickCommandResult } from 'mortar'
import { inColumns, printable } from 'mortar/kit'
import { commandMakers, DEFAULT_PAGE, readLimit, type Tools } from './command-makers.ts'
import { featureCommands } from './feature-commands.ts'
import type { Account, AccountSession } from './flows/accounts.ts'
import { fault } from './startup-codes.ts'

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
    delete: {
      ...onAccount('delete an account with all of its rows', deleteAccount),
      usage: 'USER --yes',
      options: { yes: { type: 'boolean', help: 'delete it; nothing brings it back' } },
    },
    ...featureCommands(providerName),
    prune: plain('delete what has expired, and accounts whose grace is over', async ({ accounts }) => {
      const deleted = await accounts.prune()
      const { sessions, resetTokens, endedSessions } = deleted
      const text = `Deleted: ${sessions} sessions, ${resetTokens} reset tokens, ${endedSessions} records of ended sessions.`
      return { json: deleted, text }
    }),
  }
}

async function listUsers({ accounts, input: { values } }: Tools): Promise<BrickCommandResult> {
  const limit = readLimit(values['limit'] ?? DEFAULT_PAGE)
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
  throw fault('MORTAR_AUTH_ACCOUNTS', `${email} has no session '${String(session)}'.`, {
    remedy: `List them: npx mortar auth sessions ${id}`,
  })
}

async function deleteAccount(
  { id, email }: Account,
  { accounts, input }: Tools,
): Promise<BrickCommandResult> {
  if (input.values['yes'] !== true) throw new RangeError('Write --yes: nothing brings the account back.')
  await accounts.remove(id)
  return { json: { id, deleted: true }, text: `${printable(email)} is deleted, with all of its rows.` }
}

async function resetLink({ id, email }: Account, { accounts }: Tools): Promise<BrickCommandResult> {
  const made = await accounts.resetLink(id)
  if (made !== null) return { json: { id, ...made }, text: made.link }
  throw fault('MORTAR_AUTH_ACCOUNTS', `${email} is disabled, and a disabled account accepts no reset link.`, {
    remedy: `Enable it first: npx mortar auth enable ${id}`,
  })
}
