import { routesFor } from 'mortar'
import type { app } from './app.ts'

/** `defineRoute` with the types that the application's bricks and services add to `ctx`. */
export const route = routesFor<typeof app>()
