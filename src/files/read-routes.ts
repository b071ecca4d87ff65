import type { StartupError } from '../errors/startup-error.ts'
import type { RouteBatch } from '../routing/route-sink.ts'
import type { MiddlewareScope, Route } from '../routing/route.ts'
import { diagnostic } from './diagnostics.ts'
import type { PlannedFile } from './planned-file.ts'
import { readMiddlewareModule } from './read-middleware.ts'
import { readRouteModule, type ModuleExports, type ModuleReading } from './read-module.ts'

/** Routes and scopes of a directory's modules. */
export interface Reading {
  readonly batch: RouteBatch
  readonly problems: readonly StartupError[]
  readonly warnings: readonly string[]
}

/** Reads the imported modules of a plan. `prefix` precedes a file name outside of this directory. */
export function readRoutes(
  files: readonly PlannedFile[],
  modules: ReadonlyMap<string, ModuleExports>,
  prefix: string,
): Reading {
  const readings = files.flatMap((planned) => {
    const module = modules.get(planned.file)
    if (module === undefined) return []
    const origin = prefix + planned.file
    return [{ file: planned.file, ...readOne(planned, module, origin) }]
  })
  return {
    batch: {
      routes: readings.flatMap(({ route }) => route ?? []),
      scopes: readings.flatMap(({ scope }) => scope ?? []),
    },
    problems: readings.flatMap(({ file, findings }) =>
      findings.map((finding) => diagnostic([file], finding)),
    ),
    warnings: readings.flatMap(({ file, warnings }) => warnings.map((warning) => `${file} ${warning}`)),
  }
}

interface OneReading extends Omit<ModuleReading<never>, 'value'> {
  readonly route?: Route | undefined
  readonly scope?: MiddlewareScope | undefined
}

function readOne(planned: PlannedFile, module: ModuleExports, origin: string): OneReading {
  const { pattern, segments } = planned
  if (planned.kind === 'middleware') {
    const { value: run, ...rest } = readMiddlewareModule(module)
    return { ...rest, scope: run && { prefix: pattern, middleware: { run, origin } } }
  }
  const { method, protocol } = planned
  const parameters = segments?.filter(({ kind }) => kind !== 'static').map(({ name }) => name)
  const { value, ...rest } = readRouteModule(module, { method, parameters, protocol })
  return { ...rest, route: value && { method, path: pattern, ...value, middleware: [], origin } }
}
