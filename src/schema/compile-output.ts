import type { Schema } from './schema.ts'
export function compileOutput(_schema: Schema): (value: unknown) => unknown {
  return (v) => v
}
