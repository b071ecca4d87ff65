import { auth } from '@mortar/auth'
import { database } from '@mortar/database'
import { mail } from '@mortar/mail'
import { authOptions, provider } from './auth.ts'
import { databaseOptions } from './database.ts'
import { mailOptions } from './mail.ts'

/** The bricks of the application. To replace the mail transport or the auth provider, change its file here. */
export const bricks = [database(databaseOptions), mail(mailOptions), auth(provider, authOptions)] as const
