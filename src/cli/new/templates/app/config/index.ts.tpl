import { defineConfig } from 'mortar'
import { bricks } from './bricks.ts'
import { settings } from './settings.ts'

/** The configuration of the application. */
export const config = defineConfig({
  bricks,
  environment: settings.environment,
  appUrl: settings.appUrl,
  trustProxy: settings.trustProxy,
  openapi: { title: '{{title}}', version: '0.1.0' },
})
