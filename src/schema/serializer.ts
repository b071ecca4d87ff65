import { Invalid } from './invalid.ts'
export type Serializer = (v: unknown) => string | Invalid | PromiseLike<string | Invalid>
export function compileSerializer(schema: any): Serializer {
  return (v) => {
    try {
      return JSON.stringify(schema.validateSync(v, { strict: true, stripUnknown: true }))
    } catch (e: any) {
      return new Invalid([{ path: e.path ?? '', message: e.message }])
    }
  }
}
