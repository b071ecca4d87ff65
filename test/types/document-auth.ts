import type { Db } from 'mongodb'
import { createApp } from 'mortar'
import { auth } from '@mortar/auth'
import { documentAuth, ensureAuthIndexes } from '@mortar/auth-document'
import { database } from '@mortar/database'
import type { DataSource } from 'typeorm'
import { expectType, type Equal } from './expect-type.ts'

declare const db: Db
declare const source: DataSource
const secret = 'a secret'

// The driver's own database, TypeORM's DataSource, and a function of the services that returns either.
documentAuth({ secret, db })
documentAuth({ secret, db: source })
documentAuth({ secret, db: () => db })
documentAuth({ secret, db: ({ db: service }) => service })
documentAuth({ secret, userFields: { role: 'user' }, createIndexes: false })
expectType<Equal<ReturnType<typeof ensureAuthIndexes>, Promise<void>>>()
void ensureAuthIndexes(db)
void ensureAuthIndexes(source)

// @ts-expect-error a connection string is not a database
documentAuth({ secret, db: 'mongodb://localhost' })
// @ts-expect-error a secret is required
documentAuth({ db })

const app = createApp()
  .use(database(source))
  .use(auth(documentAuth({ secret })))
expectType<Equal<typeof app.services.db, DataSource>>()
