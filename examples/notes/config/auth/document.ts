import { defineBrick } from 'mortar'
import { documentAuth } from '@mortar/auth-document'
import { MongoClient } from 'mongodb'
import { features } from './features.ts'
import { settings } from '../settings.ts'

const client = new MongoClient(settings.mongoUrl)

/** E-mail and password on the document database of `MONGODB_URL`; the notes stay where `DATABASE_URL` is. */
export const provider = documentAuth({
  db: client.db(),
  secret: settings.authSecret,
  features,
  userFields: { role: 'user' },
  ...(settings.environment === 'test' ? { cost: { memory: 1024, passes: 1, parallelism: 1 } } : {}),
})

/** The client connects with its first statement. The application has to close it. */
export const bricks = [defineBrick({ name: 'mongo', stop: () => client.close() })]
