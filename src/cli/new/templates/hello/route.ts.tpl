import { routesFor } from 'mortar'
import type { app } from './app.ts'

/** `defineRoute` that knows what the application's bricks and services add to `ctx`. */
export const route = routesFor<typeof app>()
