import { emailVerification, type EmailVerificationOptions } from '@mortar/auth/email-verification'
import { recent } from '@mortar/auth/recent'
import type { AccountMail } from '../../../../plugins/auth/features/mails.ts'
import {
  ADA,
  PASSWORD,
  settle,
  signedUp,
  type InWorld,
  type World,
  type WorldOptions,
} from '../support/world.ts'

export const NEW = 'ada@new.example'
export const EVE = { name: 'Eve', email: 'eve@example.com', password: 'a horse of eve' }
export const VERIFY = '/auth/verify-email'

/** A world with `emailVerification()`, and what its mails were. */
export type Scene = World & {
  readonly sent: AccountMail[]
  /** Waits for the mails, and lists their kinds and recipients. */
  kinds(): Promise<string[]>
  /** Waits for the mails. @returns the token of the last one of a kind. */
  tokenOf(kind: AccountMail['kind']): Promise<string>
}

/** Runs a test in a world with `emailVerification()`. */
export function withVerification(
  inWorld: InWorld,
  body: (scene: Scene) => Promise<unknown>,
  { feature = {}, ...options }: WorldOptions & { readonly feature?: EmailVerificationOptions } = {},
): Promise<void> {
  const sent: AccountMail[] = []
  const auth: WorldOptions['auth'] = {
    features: [recent(), emailVerification(feature)],
    sendMail: (mail) => sent.push(mail),
    ...options.auth,
  }
  return inWorld({ withFeatures: true, ...options, auth }, (world) =>
    body(
      Object.assign(world, {
        sent,
        async kinds() {
          await settle(world)
          return sent.map(({ kind, to }) => `${kind} ${to}`)
        },
        async tokenOf(kind: AccountMail['kind']) {
          await settle(world)
          const { link } = sent.findLast((mail) => mail.kind === kind)!
          return link!.split('#token=')[1]!
        },
      }),
    ),
  )
}

/** Ada, signed up, and the token of the link that she has got. */
export async function withLink(scene: Scene) {
  const client = await signedUp(scene)
  return { client, token: await scene.tokenOf('verify-email') }
}

/** Ada, signed up, and the token of the link for her new address. */
export async function withChange(scene: Scene, email = NEW) {
  const client = await signedUp(scene)
  const answer = await client.post('/auth/change-email', { email })
  if (answer.status !== 202) throw new Error(answer.text)
  return { client, token: await scene.tokenOf('change-email') }
}

/** Logs Ada in with an address. */
export function logIn(scene: Scene, email: string, password = PASSWORD) {
  return scene.client().post('/auth/login', { ...ADA, email, password })
}

/** The user of an address, as stored. */
export async function stored(scene: Scene, email = ADA.email) {
  return (await scene.storage.users()).find((user) => user.email === email)
}
