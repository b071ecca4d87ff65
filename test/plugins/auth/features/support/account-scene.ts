import { account, type AccountOptions } from '@mortar/auth/account'
import { audit } from '@mortar/auth/audit'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { emailVerification } from '@mortar/auth/email-verification'
import { notices } from '@mortar/auth/notices'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { github, social } from '@mortar/auth/social'
import { totp } from '@mortar/auth/totp'
import { NEVER } from '../../../../../plugins/auth/accounts/records.ts'
import { tablesOf } from '../../../../../plugins/auth/features/check-features.ts'
import type { AuthFeature, FeatureKit } from '../../../../../plugins/auth/features/feature.ts'
import type { World, WorldOptions } from '../../support/world.ts'

export const DAY = 86_400
const CLIENT = { clientId: 'notes', clientSecret: 'a secret of the provider' }
const ALL = [
  recent(),
  sessions(),
  notices(),
  emailVerification(),
  totp(),
  social({ providers: [github(CLIENT)] }),
  audit(),
]

/** Options with every feature, and the links of the mails that were sent. */
export function withAccount(options: AccountOptions = {}) {
  const links: string[] = []
  const sendMail = ({ kind, link }: { kind: string; link?: string }) => {
    if (kind === 'account-deletion' && link !== undefined) links.push(link)
  }
  const kit = {} as FeatureKit
  const probe: AuthFeature = { name: 'probe' as never, connect: (own) => ({ api: Object.assign(kit, own) }) }
  // First: the order of features must not decide which table of a deleted account is emptied last.
  const features = [account(options), ...ALL, probe]
  const world: WorldOptions = {
    withFeatures: true,
    auth: { features, sendMail, appUrl: 'https://notes.example.com' },
  }
  return { links, world, kit, tables: tablesOf(features).map(({ name }) => name) }
}

export const provider = ({ app }: World) =>
  (app.services as unknown as { authProvider: ConnectedPasswordProvider }).authProvider
/** Deletes what has expired, and accounts whose grace is over. */
export const prune = (world: World) => provider(world).accounts!.prune()
/** The token of a link. */
export const tokenIn = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get('token')
/** Takes an account back. */
export const restore = (world: World, link: string) =>
  world.client().post('/auth/account/restore', { token: tokenIn(link) })

/** Rows of a user in every table, by table. */
export async function rowsOf(world: World, tables: readonly string[], userId: string) {
  const { storage } = world
  const named = await Promise.all(tables.map(async (name) => [name, await storage.rows(name)] as const))
  const all = [
    ['auth_users', await storage.users()] as const,
    ['auth_refresh_tokens', await storage.sessions()] as const,
    ['auth_reset_tokens', await storage.resetTokens()] as const,
    ...named,
  ]
  const isOwn = (row: { id?: string; user_id?: string }) => [row.id, row.user_id].includes(userId)
  return Object.fromEntries(all.map(([name, rows]) => [name, rows.filter(isOwn).length]))
}

/** Writes a row of a user into every table of a feature that has none yet. */
export async function fillTables(world: World, { tables }: FeatureKit, userId: string): Promise<void> {
  const times = { created_at: world.clock.now(), expires_at: NEVER }
  for (const { shape, records } of tables) {
    const key = shape.key[0] === 'user_id' ? userId : `${shape.name} ${userId.slice(0, 8)}`
    const texts = Object.entries(shape.texts ?? {}).map(([name, most]) => [
      name,
      `own ${name}`.slice(0, most),
    ])
    const isEmpty = (await records.find({ user_id: userId })).length === 0
    if (isEmpty && !shape.marksDeletion)
      await records.insert({ user_id: userId, [shape.key[0]]: key, ...Object.fromEntries(texts), ...times })
  }
}
