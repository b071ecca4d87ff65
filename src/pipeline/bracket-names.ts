import type { RequestContext } from '../context/request-context.ts'
import { describeRoute, type Route } from '../routing/route.ts'
import type { Schema } from '../schema/schema.ts'
import { shapeOf } from '../schema/text-shape.ts'
import type { TextShape } from '../schema/yup/query-coercion.ts'

/** Parameters of a query or fields of a form, as they were sent. */
export type FlatNames = Readonly<Record<string, unknown>>

/** Most characters of a sent name in a message. */
const LONGEST_NAME = 60

/**
 * Compiles a warning of names with brackets, such as `ids[]`, where the schema declares `ids`: many clients send lists
 * so, and the value is ignored. Each declared name is reported once.
 */
export function warnOfBrackets(route: Route, what: string, schema: Schema) {
  let members: Map<string, TextShape> | undefined
  return (ctx: RequestContext, sent: FlatNames): void => {
    const bracketed = Object.keys(sent).filter((name) => name.includes('['))
    if (bracketed.length === 0) return
    members ??= new Map(shapeOf(schema).members)
    for (const name of bracketed) {
      const declared = name.slice(0, name.indexOf('['))
      const shape = members.get(declared)
      if (shape === undefined || members.has(name)) continue
      members.delete(declared)
      ctx.log.warn(
        `${describeRoute(route)} ignores the ${what} '${shortened(name)}': brackets are part of a name, and the schema ` +
          `declares '${declared}'. ${remedyOf(declared, name, shape)}`,
      )
    }
  }
}

function remedyOf(declared: string, name: string, { kind }: TextShape): string {
  if (kind === 'object') return `Declare '${shortened(name)}', or send another name.`
  if (kind !== 'list') return `Send ${declared}=….`
  const send = `Send ${repeated(declared)}`
  return name === `${declared}[]` ? `${send}, or declare '${name}'.` : `${send}.`
}

/** Returns the sentence that completes the message of an issue if its name was sent with brackets, else ''. */
export function bracketHint(path: string, sent: FlatNames): string {
  if (Object.hasOwn(sent, path)) return ''
  const name = Object.keys(sent).find((key) => key.startsWith(`${path}[`))
  return name === undefined ? '' : `. The request has '${shortened(name)}' instead: send ${repeated(path)}.`
}

function repeated(name: string): string {
  return `${name}=1&${name}=2`
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
}
