import type { YupLike } from './schema.ts'

/**
 * Types of what a handler may return for the responses that its route declares. They describe what the response check
 * accepts at run time, with as few type instantiations as possible.
 */

/** Marks a value whose response was decided by `reply`, `ctx.redirect` or another function of the framework. */
export declare const REPLIED: unique symbol

/** The result of `reply(…)` and of `ctx.redirect(…)`: a handler may return it under every declaration. */
export interface Replied {
  readonly [REPLIED]: true
}

/** Values that are sent unchanged and never go through a schema: bytes, streams, async iterables, `Blob`, `Response`. */
export type Unchanged =
  ArrayBuffer | ArrayBufferView | AsyncIterable<unknown> | { arrayBuffer(): Promise<ArrayBuffer> } | Replied

/** Statuses that are sent without a body. */
export type BodilessStatus = 204 | 205 | 304

/** Types without a Date or an array, which need no mapping. The check against it costs fewer instantiations. */
type Plain = string | number | boolean | null | undefined | { readonly [key: string]: Plain }

/** Values whose JSON form has the type `T`: a Date or its ISO string for a date, and any list for an array. */
export type Serializable<T> = T extends Plain
  ? T
  : T extends Date
    ? Date | string
    : T extends readonly (infer Item)[]
      ? readonly Serializable<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]: Serializable<T[Key]> }
        : T

/** `Serializable` without exact values: of a handler that is read before it is checked, `'a'` has become `string`. */
export type Widened<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T extends Date
        ? Date | string
        : T extends readonly (infer Item)[]
          ? readonly Widened<Item>[]
          : T extends object
            ? { readonly [Key in keyof T]: Widened<T[Key]> }
            : T

/** Any value with a body. */
type AnyBody = {} | null

/** The values that fit one entry of `response`: a schema, or a media type with or without one. */
export type BodyOf<Entry> = Entry extends YupLike
  ? Serializable<Exclude<Entry['__outputType'], undefined>>
  : Entry extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly input: infer Input }
      ? Serializable<Exclude<Input, undefined>>
      : AnyBody
    : Entry extends { readonly type: infer Type }
      ? Type extends `${string}${'/' | '+'}json${string}`
        ? SchemaBody<Entry>
        : string
      : SchemaBody<Entry>

type SchemaBody<Entry> = Entry extends { readonly schema: infer Declared } ? BodyOf<Declared> : AnyBody

type SuccessStatus = 200 | 201 | 202 | 203 | 206 | 207 | 208 | 226

/** The bodies of the success statuses among the declared responses; `never` if none is declared. */
export type SuccessBody<Responses> =
  | BodyOf<Responses[keyof Responses & SuccessStatus]>
  | ([keyof Responses & BodilessStatus] extends [never] ? never : void | null | undefined)

/** The results that a handler may have: the bodies, a value that is sent unchanged, or a promise of one. */
export type Returned<Body> = [Body] extends [never]
  ? unknown
  : Body | Unchanged | PromiseLike<Body | Unchanged>

/** The result of the handler of a definition. Without a declared success status every value is allowed. */
export type ResultOf<D> = D extends { readonly response: infer Responses }
  ? Returned<SuccessBody<Responses>>
  : unknown

/**
 * `ResultOf` for the declared responses of a handler that is read before it is checked. Its own result decides between
 * a value and a promise, so that the message about a mismatch is short.
 */
export type LooseResult<Responses, Result> = [SuccessBody<Responses>] extends [never]
  ? unknown
  : Result extends PromiseLike<unknown>
    ? PromiseLike<Widened<SuccessBody<Responses>> | Unchanged>
    : Widened<SuccessBody<Responses>> | Unchanged

/** Statuses of errors. */
// prettier-ignore
export type ErrorStatus =
  | 400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417 | 418
  | 421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451
  | 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511

/** Statuses that a handler may set without declaring them. */
type OtherStatus = 300 | 301 | 302 | 303 | 304 | 307 | 308 | ErrorStatus

/** The statuses that a handler may set: where a success status is declared, only declared ones, redirects and errors. */
export type StatusOf<D> = D extends { readonly response: infer Responses }
  ? [SuccessBody<Responses>] extends [never]
    ? number
    : (keyof Responses & number) | OtherStatus
  : number
