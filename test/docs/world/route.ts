import { routesFor } from 'mortar'
import type { app } from './app.ts'

export const route = routesFor<typeof app>()
