import { database } from 'mortar/database'
import { databaseOptions } from './database.ts'

/** The bricks of the application. */
export const bricks = [database(databaseOptions)] as const
