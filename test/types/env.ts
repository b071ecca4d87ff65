import { env } from 'mortar'
import { type Equal, expectType } from './expect-type.ts'

const port = env.port('PORT')
expectType<Equal<typeof port, number>>()

const withDefault = env.string('HOST', { default: 'localhost' })
expectType<Equal<typeof withDefault, string>>()

const optional = env.string('HOST', { optional: true })
expectType<Equal<typeof optional, string | undefined>>()

const flag = env.boolean('FLAG', { default: false })
expectType<Equal<typeof flag, boolean>>()

const origins = env.list('ORIGINS', { separator: ' ' })
expectType<Equal<typeof origins, readonly string[]>>()

const lifetime = env.duration('LIFETIME', { default: '15m' })
expectType<Equal<typeof lifetime, number>>()

const level = env.oneOf('LEVEL', ['debug', 'info'])
expectType<Equal<typeof level, 'debug' | 'info'>>()

const optionalLevel = env.oneOf('LEVEL', ['debug', 'info'], { optional: true })
expectType<Equal<typeof optionalLevel, 'debug' | 'info' | undefined>>()

const optionalSecret = env.secret('SECRET', { optional: true })
expectType<Equal<typeof optionalSecret, string | undefined>>()

const config = env.all((read) => ({ port: read.port('PORT'), host: read.string('HOST', { optional: true }) }))
expectType<Equal<typeof config, { port: number; host: string | undefined }>>()

// @ts-expect-error a default is of the reader's own type
env.port('PORT', { default: '3000' })

// @ts-expect-error a default is one of the values
env.oneOf('LEVEL', ['debug', 'info'], { default: 'warn' })

// @ts-expect-error a secret in the code would be known to everybody who reads it
env.secret('SECRET', { default: 'change me' })

// @ts-expect-error only numbers have bounds
env.string('NAME', { min: 1 })
