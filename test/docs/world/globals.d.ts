/*
 * What a fragment in the documents may use without importing or making it: the public names, those of yup, and what a
 * reader takes for granted. A block that imports a name gets that one.
 */
import type { join as joinPath } from 'node:path'
import type * as mortar from 'mortar'
import type * as authentication from 'mortar/auth'
import type * as basic from 'mortar/auth/basic'
import type * as databases from 'mortar/database'
import type * as mails from 'mortar/mail'
import type * as testing from 'mortar/testing'
import type { DataSource } from 'typeorm'
import type * as yup from 'yup'
import type * as world from './app.ts'
import type { NoteService as Service } from './note-service.ts'
import type { route as makeRoute } from './route.ts'
import type * as tables from './schema.ts'
import type * as notes from './notes.ts'

type App = typeof world.app

declare global {
  const createApp: typeof mortar.createApp
  const createRouter: typeof mortar.createRouter
  const routerFor: typeof mortar.routerFor
  const defineBrick: typeof mortar.defineBrick
  const defineConfig: typeof mortar.defineConfig
  const defineRoute: typeof mortar.defineRoute
  const loadRoutes: typeof mortar.loadRoutes
  const fromKoa: typeof mortar.fromKoa
  const env: typeof mortar.env
  const singleton: typeof mortar.singleton
  const scoped: typeof mortar.scoped
  const transient: typeof mortar.transient
  const value: typeof mortar.value
  const NotFound: typeof mortar.NotFound
  const StartupError: typeof mortar.StartupError
  type Context = mortar.Context
  type Next = mortar.Next

  const auth: typeof authentication.auth
  type AuthEvents = authentication.AuthEvents
  type AuthProvider = authentication.AuthProvider
  const basicAuth: typeof basic.basicAuth
  const database: typeof databases.database
  const fromUrl: typeof databases.fromUrl
  const createDataSource: typeof databases.createDataSource
  const createMigrations: typeof databases.createMigrations
  const mail: typeof mails.mail
  const createClient: typeof testing.createClient
  const signedIn: typeof testing.signedIn
  const mailbox: typeof testing.mailbox

  const object: typeof yup.object
  const array: typeof yup.array
  const string: typeof yup.string
  const number: typeof yup.number
  const boolean: typeof yup.boolean
  const date: typeof yup.date
  const join: typeof joinPath

  const app: App
  const ctx: mortar.AppContext<{ readonly auth: true }, mortar.MembersOf<App>, mortar.ServicesOf<App>>
  const route: typeof makeRoute
  const schema: typeof tables
  const Notes: typeof notes.Notes
  const Accounts: typeof notes.Accounts
  const NoteService: typeof Service
  const dataSource: DataSource

  const id: string
  const slug: string
  const userId: string
  const account: string
  const amount: number
  const url: string
  const secret: string
  const pdf: Buffer
  const note: yup.AnyObjectSchema
  const missing: yup.AnyObjectSchema
  function lookUp(token: string): Promise<{ readonly id: string; readonly name: string } | undefined>
}
