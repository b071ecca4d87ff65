import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** The forms of a route file: without and with the types of the application's bricks, and separate exports. */
export const FORMS = {
  defineRoute: { head: "import { defineRoute as route } from 'mortar'", uses: '' },
  routesFor: {
    head: "import { route } from '../route.ts'",
    uses: "void ctx.db.getRepository('x'); void ctx.mail; void ctx.services.counter.next()\n  ",
  },
  separate: { head: "import type { HandlerFor } from 'mortar'", uses: '' },
} as const

export type Form = keyof typeof FORMS

/** Writes an application with so many route files, its bricks and its configuration into an empty folder. */
export function generateApplication(folder: string, form: Form, size: number): void {
  const modules = join(folder, 'node_modules')
  for (const name of ['node_modules', 'routes']) mkdirSync(join(folder, name))
  for (const name of ['yup', 'koa', 'typeorm', '@types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  symlinkSync(ROOT, join(modules, 'mortar'))
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  write('package.json', '{ "type": "module" }')
  write('tsconfig.json', JSON.stringify(TSCONFIG))
  write('app.ts', APP)
  write('route.ts', ROUTE_MAKER)
  for (let index = 0; index < size; index++) write(`routes/items${index}.patch.ts`, routeFile(form, index))
}

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2023', 'DOM.AsyncIterable'],
    module: 'NodeNext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  },
}

const APP = `import { createApp, scoped } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import { database } from '@mortar/database'
import { mail } from '@mortar/mail'

export const app = createApp()
  .use(database({ type: 'better-sqlite3', database: ':memory:', entities: [] }))
  .use(mail({ from: 'app@example.com' }))
  .use(auth(basicAuth({ secret: 'secret' }), { policies: { admin: (user) => user.raw['role'] === 'admin' } }))
  .provide({ counter: scoped(({ user }) => ({ next: () => (user === null ? 0 : 1) })) })
`

const ROUTE_MAKER = `import { routesFor } from 'mortar'
import type { app } from './app.ts'

export const route = routesFor<typeof app>()
`

/** A route with every kind of input, whose handler uses all of them with their types. */
function routeFile(form: Form, index: number): string {
  const { head, uses } = FORMS[form]
  const keys = Object.entries(keysOf(index))
  const start = `import { array, boolean, number, object, string } from 'yup'
${head}

const item${index} = object({ id: string().required(), name: string().required(), size: number().required() })

`
  const handler = `(ctx) => {
  ${uses}const size: number = ctx.body.size ?? ctx.query.page
  const tags: string[] = ctx.body.tags
  return { id: ctx.params.id, name: ctx.body.owner.email + ctx.user.id + tags.length, size }
}`
  if (form === 'separate')
    return `${start}${keys.map(([key, text]) => `export const ${key} = ${text}\n`).join('')}
export default (${handler}) satisfies HandlerFor<typeof import('./items${index}.patch.ts')>
`
  return `${start}export default route({
${keys.map(([key, text]) => `  ${key}: ${text},\n`).join('')}}, ${handler})
`
}

function keysOf(index: number): Record<string, string> {
  return {
    auth: 'true',
    summary: "'Change an item'",
    params: 'object({ id: string().uuid().required() })',
    query: 'object({ page: number().integer().min(1).default(1), verbose: boolean() })',
    body: `object({
    name: string().trim().required().max(${index + 10}),
    size: number().integer().min(0),
    tags: array(string().required()).max(10).required(),
    owner: object({ email: string().email().required(), phone: string() }).required(),
  })`,
    response: `{ 200: item${index} }`,
  }
}
