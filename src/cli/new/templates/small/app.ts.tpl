import { createApp } from 'mortar'
import { config } from './config/index.ts'

export const app = createApp(config)
