import type { AppContext, DefinedContext, LooseInputs } from '../context/context.ts'
import type { LooseResult, ResultOf } from '../schema/response-body.ts'
import type { Infer } from '../schema/schema.ts'
import type { HandlerServices, MembersOf, TypedApp } from './define-route.ts'

/**
 * The handler of a route module with separate exports; `A` is the application, for the members of its bricks:
 * `export default ((ctx) => …) satisfies HandlerFor<typeof import('./[id].get.ts'), typeof app>`. The module is the one
 * that the line is written in.
 */
export type HandlerFor<Module, A extends TypedApp = never> = Module extends unknown
  ? (
      ctx: [A] extends [never]
        ? DefinedContext<Module>
        : AppContext<Module, MembersOf<A>, HandlerServices<A>>,
    ) => ResultOf<Module>
  : never

/**
 * The type that a route module must have by its own exports: its default handler returns what its `response` declares, and the
 * type of its `ctx` fits its schemas. The manifest of `mortar build` compares each module with it. TypeScript has read
 * the handler alone, where `'a'` is any string, so texts, numbers and lists are compared without their exact values.
 */
export type CheckedModule<Module> = Module extends { readonly default: (ctx: infer Ctx) => infer Result }
  ? {
      readonly default: (
        ctx: WithInputs<Ctx, Module, InputConflict<Module, Ctx>>,
      ) => Module extends { readonly response: infer Responses } ? LooseResult<Responses, Result> : unknown
    }
  : unknown

type InputKey = 'params' | 'query' | 'headers' | 'body'

/** The `ctx` of a handler with the types of those inputs that conflict with its schemas. */
type WithInputs<Ctx, Module, Conflict extends PropertyKey> = [Conflict] extends [never]
  ? Ctx
  : Omit<Ctx, Conflict> & { readonly [Key in Conflict & keyof Module]: Infer<Module[Key]> }

/**
 * The inputs whose type in `ctx` is neither that of the schema nor that of `Context`. None without `strictNullChecks`,
 * where each key of a yup schema is optional.
 */
type InputConflict<Module, Ctx> = {
  [Key in keyof Module & InputKey & keyof Ctx]: null extends string
    ? never
    : LooseInputs[Key] extends Ctx[Key]
      ? never
      : Infer<Module[Key]> extends Ctx[Key]
        ? never
        : Key
}[keyof Module & InputKey & keyof Ctx]
