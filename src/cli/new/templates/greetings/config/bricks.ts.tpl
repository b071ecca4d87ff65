import { database } from 'mortar/database'
import { databaseOptions } from './database.ts'

/** What the application is extended with. */
export const bricks = [database(databaseOptions)] as const
