import { auth } from '@mortar/auth'
import { database } from '@mortar/database'
import { mail } from '@mortar/mail'
import { databaseOptions } from './database.ts'
import { mailOptions } from './mail.ts'
import { authBricks, authOptions, provider } from './auth.ts'

/** The bricks of the application. To swap a mail transport or the auth provider, change its line's file. */
export const bricks = [
  database(databaseOptions),
  mail(mailOptions),
  auth(provider, authOptions),
  ...authBricks,
] as const
