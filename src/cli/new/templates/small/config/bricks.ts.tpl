// #if database
import { database } from '@mortar/database'
import { databaseOptions } from './database.ts'

/** The bricks of the application. */
export const bricks = [database(databaseOptions)] as const
// #end
// #if !database
/** The bricks of the application, such as `database(…)`, `mail(…)` and `auth(…)`. */
export const bricks = [] as const
// #end
