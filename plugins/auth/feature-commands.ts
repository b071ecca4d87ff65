import type { StartupError, BrickCommand, BrickCommandResult } from 'mortar'
import { inColumns, printable } from 'mortar/kit'
import { commandMakers, DEFAULT_PAGE, readLimit, type Tools } from './command-makers.ts'
import type { Account } from './flows/accounts.ts'
import { fault } from './startup-codes.ts'

/** The commands `mortar auth …` that need a feature. */
export function featureCommands(providerName: string): Readonly<Record<string, BrickCommand>> {
  const { onAccount, plain } = commandMakers(providerName)
  return {
    'remove-factor': onAccount('remove the second factor of a user who has lost it', removeFactor),
    reseal: plain('seal the secrets of second factors with the first secret', reseal),
    linked: onAccount('list the linked accounts of an account', listLinked),
    unlink: {
      ...onAccount('remove a linked account of an account', unlink),
      usage: 'USER --id ID',
      options: { id: { type: 'string', help: 'the linked account, also if it is the only way in' } },
    },
    audit: {
      ...plain('list the events of accounts, the newest first', listEvents),
      usage: '[--user USER] [--limit N] [--before ID]',
      options: {
        user: { type: 'string', help: 'the id or address of a user; all events by default' },
        limit: { type: 'string', help: `events of one page; ${DEFAULT_PAGE} by default` },
        before: { type: 'string', help: 'the last id of the page before' },
      },
    },
  }
}

async function removeFactor({ id, email }: Account, { accounts }: Tools): Promise<BrickCommandResult> {
  if (accounts.removeFactor === undefined) throw without('second factors', 'totp() or passkeys()')
  const removed = await accounts.removeFactor(id)
  const text = removed ? `${email} logs in with the password alone.` : `${email} has no second factor.`
  return { json: { id, removed }, text }
}

async function reseal({ accounts }: Tools): Promise<BrickCommandResult> {
  if (accounts.reseal === undefined) throw without('second factors', 'totp()')
  const done = await accounts.reseal()
  if (done.unreadable === 0) return { json: done, text: `Resealed: ${done.resealed}.` }
  throw fault(
    'MORTAR_AUTH_SEALED',
    `Resealed: ${done.resealed}. ${done.unreadable} need a secret that is not in AUTH_SECRETS.`,
    { remedy: 'Append the old secret to the list and run the command again, or remove these factors.' },
  )
}

async function listLinked({ id }: Account, { accounts }: Tools): Promise<BrickCommandResult> {
  if (accounts.linked === undefined) throw without('linked accounts', 'social()')
  const linked = await accounts.linked.list(id)
  const rows = linked.map((each) => Object.values(each).map((value) => printable(String(value ?? '-'))))
  return { json: { id, linked }, text: rows.length === 0 ? 'No linked accounts.' : inColumns(rows) }
}

async function unlink({ id, email }: Account, { accounts, input }: Tools): Promise<BrickCommandResult> {
  if (accounts.linked === undefined) throw without('linked accounts', 'social()')
  const linkId = input.values['id']
  if (typeof linkId !== 'string') throw new RangeError('Write --id with the id of a linked account.')
  const removed = await accounts.linked.remove(id, linkId)
  if (removed)
    return { json: { id, linkId, removed }, text: `${printable(email)} is not linked to it any more.` }
  throw fault('MORTAR_AUTH_ACCOUNTS', `${printable(email)} has no linked account '${printable(linkId)}'.`, {
    remedy: `List them: npx mortar auth linked ${id}`,
  })
}

async function listEvents({ accounts, input: { values } }: Tools): Promise<BrickCommandResult> {
  if (accounts.audit === undefined) throw without('log of events', 'audit()')
  const { user, before, limit } = values
  // The id of a user who is gone finds nothing, as the rows are gone too.
  const userId = user && ((await accounts.find(String(user)))?.id ?? String(user))
  const entries = await accounts.audit.list({
    ...(typeof userId === 'string' && { userId }),
    ...(typeof before === 'string' && { before }),
    limit: readLimit(limit ?? DEFAULT_PAGE),
  })
  const rows = entries.map(({ at, event, userId: owner, ip, data }) => [
    at,
    event,
    owner ?? '-',
    ip ?? '-',
    printable(JSON.stringify(data)),
  ])
  return { json: { entries }, text: rows.length === 0 ? 'No events.' : inColumns(rows) }
}

function without(what: string, feature: string): StartupError {
  return fault('MORTAR_AUTH_ACCOUNTS', `The auth provider has no ${what}.`, {
    remedy: `Add ${feature} to the option features.`,
  })
}
