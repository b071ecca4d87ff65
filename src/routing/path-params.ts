import type { LooseInputs } from '../context/context.ts'

type ParameterOf<Segment> = Segment extends `:${infer Name}`
  ? Name
  : Segment extends `*${infer Name}`
    ? Name
    : never

type ParameterNames<Path> = Path extends `${infer Segment}/${infer Rest}`
  ? ParameterOf<Segment> | ParameterNames<Rest>
  : ParameterOf<Path>

/** The parameters of a path that is a literal: `{ id: string }` for `/users/:id`. Any name where it is not. */
export type PathParams<Path extends string> = {} extends { readonly [Whole in Path]: true }
  ? LooseInputs['params']
  : { readonly [Name in ParameterNames<Path>]: string }
