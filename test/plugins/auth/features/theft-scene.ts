import { expect } from 'chai'
import { emailVerification } from '@mortar/auth/email-verification'
import { notices } from '@mortar/auth/notices'
import type { AuthFeature } from '@mortar/auth/provider'
import { recent } from '@mortar/auth/recent'
import type { MailKind } from '../../../../plugins/auth/features/mails.ts'
import type { Client } from '../support/client.ts'
import { ADA, settle, type InWorld } from '../support/world.ts'
import { VERIFY, withLink, withVerification, type Scene } from './verification-scene.ts'

export const OPTIONS = {
  auth: { appUrl: 'http://localhost:3000', features: [recent(), emailVerification(), notices()] },
}

/** Ada has proven her address, and a thief knows her password. */
export function withThief(
  inWorld: InWorld,
  body: (scene: Scene) => Promise<unknown>,
  isProven = true,
  features: readonly AuthFeature[] = OPTIONS.auth.features,
) {
  return withVerification(
    inWorld,
    async (scene) => {
      await arrive(scene, isProven)
      return body(scene)
    },
    { auth: { ...OPTIONS.auth, features } },
  )
}

/** Ada signs up, and proves her address. */
export async function arrive(scene: Scene, isProven = true): Promise<void> {
  const { client, token } = await withLink(scene)
  if (isProven) expect((await client.post(VERIFY, { token })).status).to.equal(200)
  scene.sent.length = 0
}

export const AGENT = {
  'user-agent': `Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0`,
}

/** Logs in from a browser that is not known, and replaces the address of the account. */
export async function replace(scene: Scene, from: string, to: string): Promise<void> {
  scene.clock.advance(1)
  const thief = scene.client()
  await thief.post('/auth/login', { ...ADA, email: from }, AGENT)
  await replaceBy(scene, thief, to)
}

export async function replaceBy(scene: Scene, thief: Client, to: string): Promise<void> {
  const asked = await thief.post('/auth/change-email', { email: to })
  expect(asked.status, asked.text).to.equal(202)
  const token = await scene.tokenOf('change-email')
  expect((await thief.post(VERIFY, { token })).status).to.equal(200)
  await settle(scene)
}

/** The token of the first link of a kind that went to an address. */
export function denialTo(scene: Scene, kind: MailKind, to: string): string {
  const { link } = scene.sent.find((mail) => mail.kind === kind && mail.to === to)!
  return link?.split('/auth/not-me#token=')[1] ?? `no link in ${kind}`
}

export const deny = async (scene: Scene, token: string) =>
  (await scene.client().post('/auth/not-me', { token })).status
export const resetsTo = async (scene: Scene) => {
  await settle(scene)
  return scene.mails.map(({ to }) => to)
}
