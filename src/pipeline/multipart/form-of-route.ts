import { StartupError } from '../../errors/startup-error.ts'
import { describeRoute, type Route } from '../../routing/route.ts'
import { formShapeOf } from '../../schema/form-shape.ts'
import { bytes } from '../../support/bytes.ts'
import { formLimits } from '../../support/form-limits.ts'
import { matchesType } from '../../support/media-type.ts'
import type { Form } from '../parse-form.ts'
import type { PipelineRuntime } from '../step.ts'

const MULTIPART = 'multipart/form-data'

/** The media types that a route reads, and its form settings. */
export interface FormOfRoute {
  /** Media types that the route reads, in lower case; undefined if `consumes` is not set. */
  readonly accepted: readonly string[] | undefined
  /** Undefined if the route does not declare multipart; a multipart body is then a 415 and is not read. */
  readonly form: Form | undefined
  /** Most fields of an urlencoded form. */
  readonly maxFields: number
}

function listsMultipart(listed: readonly string[] | undefined): boolean {
  return listed?.some((pattern) => matchesType(pattern, MULTIPART)) ?? false
}

/**
 * Returns the form settings of a route. It reads multipart if its `consumes` lists it or its body schema has a
 * `file()`. Without `consumes`, a schema with a `file()` accepts multipart only. `limit` is the largest body in bytes.
 * @throws StartupError `MORTAR_MULTIPART` for `file()` if `consumes` has no multipart; `MORTAR_FILE_SIZE` for a file size
 * above `limit`.
 */
export function formOf(route: Route, runtime: PipelineRuntime, limit: number): FormOfRoute {
  const { body, consumes } = route.definition
  const limits = formLimits(route.definition.multipart, runtime.multipart)
  const { maxFields } = limits
  const listed = consumes?.map((type) => type.toLowerCase())
  const isListed = listsMultipart(listed)
  const shape = formShapeOf(body)
  if (!isListed && !shape.hasFiles) return { accepted: listed, form: undefined, maxFields }
  if (listed !== undefined && !isListed)
    throw new StartupError(
      `${describeRoute(route)} has a file() in its body, but \`consumes\` does not list multipart/form-data.`,
      {
        code: 'MORTAR_MULTIPART',
        remedy: 'Remove `consumes`, or add multipart/form-data to it.',
        files: [route.origin],
      },
    )
  const { sizes, lists } = shape
  refuseUnreachable(route, sizes, limit)
  return { accepted: listed ?? [MULTIPART], form: { ...limits, limit, sizes, lists }, maxFields }
}

/** A file above the limit of the whole body would never arrive, so its own limit would never have an effect. */
function refuseUnreachable(route: Route, sizes: ReadonlyMap<string, number>, limit: number): void {
  const { maxFileSize } = route.definition.multipart ?? {}
  const declared: (readonly [string, number])[] = [...sizes].map(([name, size]) => [
    `maxSize of its file '${name}'`,
    size,
  ])
  if (maxFileSize !== undefined) declared.push(['multipart.maxFileSize', bytes(maxFileSize)])
  const found = declared.find(([, size]) => size > limit)
  if (found === undefined) return
  const [what, size] = found
  throw new StartupError(
    `${describeRoute(route)} accepts ${size} bytes by ${what}, but its whole body only has ${limit} bytes (bodyLimit).`,
    {
      code: 'MORTAR_FILE_SIZE',
      remedy: `Set bodyLimit of the route to more than ${size}, for the file and the rest of the form, or lower the size of the file.`,
      files: [route.origin],
    },
  )
}
