import { defineConfig } from 'mortar'
import { bricks } from './bricks.ts'
import { settings } from './settings.ts'

/** The configuration of the reference application. */
export const config = defineConfig({
  bricks,
  environment: settings.environment,
  appUrl: settings.appUrl,
  trustProxy: settings.trustProxy,
  openapi: { title: 'Notes', version: '1.0.0', description: 'A notebook for each user.' },
})
