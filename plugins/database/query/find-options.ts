import type { FindOperator } from 'typeorm'

/** Marks a placeholder; a symbol, so that no value of a column can look like one. */
const NAME: unique symbol = Symbol('name of a parameter')

/** Placeholder for a value that each call passes under this name. */
export interface Param<Name extends string = string> {
  readonly [NAME]: Name
}

/**
 * Makes a placeholder for a value that each call of a query passes: `where: { owner_id: param('owner') }`. It is bound,
 * never SQL text.
 */
export function param<const Name extends string>(name: Name): Param<Name> {
  return { [NAME]: name }
}

/** Returns the name of a placeholder, or undefined for any other value. */
export function nameOfParam(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null && NAME in value ? (value as Param)[NAME] : undefined
}

/** Comparison value of one column: a value, null, a parameter or one of TypeORM's operators around either. */
export type Condition<Value> =
  | NonNullable<Value>
  | null
  | Param
  | FindOperator<NonNullable<Value>>
  | FindOperator<Param>
  | (NonNullable<Value> extends Scalar ? never : Where<NonNullable<Value>>)

type Scalar = string | number | bigint | boolean | Date | Uint8Array | readonly unknown[]

/** Conditions by property, all of which must be true; an embedded object has conditions of its own. */
export type Where<Entity> = { readonly [Key in keyof Entity]?: Condition<Entity[Key]> }

/** Sort direction by property, in order of precedence. */
export type Order<Entity> = {
  readonly [Key in keyof Entity]?:
    Direction | (Entity[Key] extends Scalar | null ? never : Order<Entity[Key]>)
}

/** Sort direction in TypeORM's notation. */
export type Direction = 'ASC' | 'DESC' | 'asc' | 'desc'

/** Properties to read: `{ id: true, title: true }`. */
export type Select<Entity> = { readonly [Key in keyof Entity]?: true }

/** The entity, or the part of it that `select` names. */
export type Selected<Entity, Selection> = [keyof Selection] extends [never]
  ? Entity
  : Pick<Entity, keyof Selection & keyof Entity>

/** The parameters that conditions name, each with the type of its column. */
export type WhereParams<Entity, Conditions> = Simplify<
  Intersection<
    {
      [Key in keyof Conditions]: Key extends keyof Entity
        ? ConditionParams<NonNullable<Entity[Key]>, Conditions[Key]>
        : unknown
    }[keyof Conditions]
  >
>

type ConditionParams<Value, Given> =
  Given extends Param<infer Name>
    ? { readonly [Key in Name]: Value }
    : Given extends FindOperator<infer Inner>
      ? Inner extends Param<infer Name>
        ? { readonly [Key in Name]: Value }
        : unknown
      : Given extends Scalar | null | undefined
        ? unknown
        : WhereParams<Value, Given>

/** The parameters of `limit` and `offset`. */
export type PageParams<Limit, Offset> = Simplify<NumberOf<Limit> & NumberOf<Offset>>

type NumberOf<Given> = Given extends Param<infer Name> ? { readonly [Key in Name]: number } : unknown

type Intersection<Union> = (Union extends unknown ? (given: Union) => void : never) extends (
  given: infer Together,
) => void
  ? Together
  : never

export type Simplify<Type> = { [Key in keyof Type]: Type[Key] }

/** Forbids properties that the entity does not have, because TypeScript does not check them in an inferred type. */
export type Only<Entity, Given> = { readonly [Key in Exclude<keyof Given, keyof Entity>]: never }

/** The options of a query as the compiler of statements reads them, without their types. */
export interface Definition {
  readonly select?: Readonly<Record<string, unknown>>
  readonly where?: Readonly<Record<string, unknown>>
  readonly order?: Readonly<Record<string, unknown>>
  readonly limit?: number | Param
  readonly offset?: number | Param
  readonly withDeleted?: boolean
}
