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

/** The type of an object without undefined in its optional keys: an absent key is left out and never undefined. */
type WithoutUndefined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

/**
 * The type of a value that passed the schema. The optional keys of a yup object are `key?: T`, so that with
 * `exactOptionalPropertyTypes` they fit a parameter of that form.
 */
export type Infer<S> = S extends { readonly __outputType: infer Output }
  ? Output extends Date | readonly unknown[]
    ? Output
    : WithoutUndefined<Output>
  : S extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly output: infer Output }
      ? Output
      : unknown
    : unknown
