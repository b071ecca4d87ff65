/**
 * Types of the schemas that the framework accepts. Generics are constrained to these two small shapes and never to
 * yup's own class types, which cost fourteen times the type instantiations.
 */

/** The part of a yup schema that carries its types. */
export interface YupLike {
  readonly __outputType: unknown
}

/** The part of the Standard Schema v1 interface that carries its types (https://standardschema.dev). */
export interface StandardLike {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined
  }
}

/** A yup schema or any Standard Schema validator. */
export type Schema = YupLike | StandardLike

/** Types of object literals. An interface, a class and a function do not extend it, so a Date or a file stays as it is. */
type Fields = { readonly [key: string]: unknown }

/**
 * The type of a yup value whose optional keys are `key?: T` at every depth: an absent key is left out and never
 * undefined. Required keys and items of arrays may be undefined. An array whose items may be arrays stays as it is,
 * because such a type may contain itself, and TypeScript resolves the items of a mapped array immediately.
 */
type WithoutUndefined<T> = T extends Fields
  ? {
      // An object with an optional key does not extend one with that key. `Record` or `Pick` costs more instantiations.
      [Key in keyof T]: WithoutUndefined<
        T extends { [Required in Key]: unknown } ? T[Key] : Exclude<T[Key], undefined>
      >
    }
  : T extends readonly unknown[]
    ? Extract<T[number], readonly unknown[]> extends never
      ? { [Index in keyof T]: WithoutUndefined<T[Index]> }
      : T
    : T

// `S['__outputType']` costs fewer instantiations than `infer`.

/**
 * The type of a value that passed the schema. The optional keys of yup objects are `key?: T`, so that with
 * `exactOptionalPropertyTypes` they fit a parameter of that form. Other validators declare their own types.
 */
export type Infer<S> = S extends YupLike
  ? WithoutUndefined<S['__outputType']>
  : S extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly output: infer Output }
      ? Output
      : unknown
    : unknown
