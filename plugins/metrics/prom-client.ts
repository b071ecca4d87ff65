import { createRequire } from 'node:module'
import type * as PromClient from 'prom-client'

const require = createRequire(import.meta.url)

/** Loads prom-client, when the application is made. */
export const loadPromClient = (): typeof PromClient => require('prom-client') as typeof PromClient
