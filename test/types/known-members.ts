import type { DataSource } from 'typeorm'
import type { Logger, Policy, PolicyContext, User } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import '@mortar/database'
import type { TemplateMailer } from '@mortar/mail'
import { expectType, type Equal } from './expect-type.ts'

// A brick tells policies the type of its member.
declare module 'mortar' {
  interface KnownMembers {
    now: () => Date
  }
}

auth(basicAuth({ secret: 'x' }), {
  policies: {
    member: (user, ctx) => {
      expectType<Equal<typeof ctx.db, DataSource>>()
      expectType<Equal<typeof ctx.mail, TemplateMailer>>()
      expectType<Equal<typeof ctx.now, () => Date>>()
      expectType<Equal<(typeof ctx)['other'], unknown>>()
      expectType<Equal<typeof ctx.services.db, DataSource>>()
      expectType<Equal<typeof ctx.services.logger, Logger>>()
      expectType<Equal<(typeof ctx.services)['other'], unknown>>()
      return ctx.db.getRepository('members').existsBy({ user: user.id, project: ctx.params['id'] ?? '' })
    },
  },
})

// The same in functions outside the options.
export const isMember = (user: User, { db, params }: PolicyContext): Promise<boolean> =>
  db.getRepository('members').existsBy({ user: user.id, project: params['id'] ?? '' })
expectType<typeof isMember extends Policy ? true : false>()
