import type { DATE_FIELDS } from './private-fields.ts'

/** A value of a column or field as it is in `user.raw`, which is JSON. */
export type JsonValue<Value> = Value extends Date ? string : Value

/** `user.raw` of accounts in documents: the framework's public fields, and those of the application. */
export type PublicFields<Own> = {
  readonly [Name in 'id' | 'name' | 'email']: string
} & { readonly [Name in (typeof DATE_FIELDS)[number]]: string | null } & {
  readonly [Name in keyof Own]: JsonValue<Own[Name]>
}
