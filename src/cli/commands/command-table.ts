import type { Command } from '../command.ts'

/** Every command, in the order of the help. The module of a command is loaded when the command is used. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  new: async () => (await import('./new.ts')).create,
  add: async () => (await import('./add.ts')).add,
  dev: async () => (await import('./dev.ts')).dev,
  build: async () => (await import('./build.ts')).build,
  start: async () => (await import('./start.ts')).start,
  work: async () => (await import('./work.ts')).work,
  reload: async () => (await import('./reload.ts')).reload,
  maintenance: async () => (await import('./maintenance.ts')).maintenance,
  console: async () => (await import('./console.ts')).openConsole,
  migrate: async () => (await import('./migrate.ts')).migrate,
  routes: async () => (await import('./routes.ts')).routes,
  openapi: async () => (await import('./openapi.ts')).openapi,
  doctor: async () => (await import('./doctor.ts')).doctor,
  generate: async () => (await import('./generate.ts')).generate,
}

/** Bricks of this release that have commands: without such a brick the cause is the application, not the spelling. */
export const BRICKS_WITH_COMMANDS: readonly string[] = ['auth', 'jobs', 'limits']
