import { createRequire } from 'node:module'
import type * as Nodemailer from 'nodemailer'
import type addressParser from 'nodemailer/lib/addressparser'

const require = createRequire(import.meta.url)

/** nodemailer has a build for `require`, which costs half of what its 39 modules for `import` do. */
export const loadNodemailer = (): typeof Nodemailer => require('nodemailer') as typeof Nodemailer

/** nodemailer's own parser of addresses. */
export const loadAddressParser = (): typeof addressParser =>
  require('nodemailer/lib/addressparser') as typeof addressParser
