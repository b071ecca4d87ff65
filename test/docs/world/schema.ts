export * from 'mortar/auth/basic/schema'
export * from './notes.ts'
