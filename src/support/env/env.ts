import { StartupError, StartupErrors } from '../../errors/startup-error.ts'
import { type Size, bytes } from '../bytes.ts'
import { checkOptions } from '../check-options.ts'
import { type Duration, seconds } from '../duration.ts'
import * as kind from './kinds.ts'
import { unloadedFileWith } from './env-files.ts'
import { READERS } from './reader-options.ts'
import {
  type Variables,
  isInspecting,
  processVariables,
  readEnvironment,
  unknownMode,
} from './environment.ts'
import { noteProblem, placeholderOf } from './placeholders.ts'

/** Behaviour of a reader for a variable that is not set or empty: use `default`, return undefined, or fail. */
export interface EnvOptions<T> {
  readonly default?: T
  /** Returns undefined if the variable is not set. */
  readonly optional?: true
  /** In production, a variable that is not set is a fault: `default` and `optional` apply elsewhere only. */
  readonly requiredInProduction?: true
}

/** Adds an example for the message about a missing variable; by default it is the default. */
export interface EnvStringOptions extends EnvOptions<string> {
  readonly example?: string
}

/** Adds the bounds of a number, both included. */
export interface EnvNumberOptions extends EnvOptions<number> {
  readonly min?: number
  readonly max?: number
}

/** Adds the accepted protocols of a URL, without their colon: `['http', 'https']`. By default all. */
export interface EnvUrlOptions extends EnvOptions<string> {
  readonly protocols?: readonly string[]
}

/** Adds the separator of list items. A comma by default. */
export interface EnvListOptions extends EnvOptions<readonly string[]> {
  readonly separator?: string
}

/** A secret has no default, since everybody who reads the code would know it. */
export interface EnvSecretOptions {
  readonly optional?: true
  readonly requiredInProduction?: true
  /** In production, refuses a secret that is too weak to sign with: short, repeated, or a placeholder. */
  readonly strong?: true
}

type Read<T, O> = O extends { readonly optional: true } ? T | undefined : T

/**
 * Readers of environment variables. Each returns a value of its kind, or throws a `StartupError` (`MORTAR_ENV`) that
 * names the variable, the expected kind and the remedy, never the value. An empty variable counts as not set.
 */
export interface Env {
  string<const O extends EnvStringOptions>(name: string, options?: O): Read<string, O>
  integer<const O extends EnvNumberOptions>(name: string, options?: O): Read<number, O>
  number<const O extends EnvNumberOptions>(name: string, options?: O): Read<number, O>
  /** A TCP port, 0 to 65535. */
  port<const O extends EnvOptions<number>>(name: string, options?: O): Read<number, O>
  /** `true/1/yes/on` and `false/0/no/off`, in any case. */
  boolean<const O extends EnvOptions<boolean>>(name: string, options?: O): Read<boolean, O>
  /** An absolute URL, as a string. */
  url<const O extends EnvUrlOptions>(name: string, options?: O): Read<string, O>
  list<const O extends EnvListOptions>(name: string, options?: O): Read<readonly string[], O>
  /** Seconds; the variable may carry a unit (`15m`). */
  duration<const O extends EnvOptions<Duration>>(name: string, options?: O): Read<number, O>
  /** Bytes; the variable may carry a unit (`1mb`). */
  bytes<const O extends EnvOptions<Size>>(name: string, options?: O): Read<number, O>
  /** One of the given values. */
  oneOf<const T extends string, const O extends EnvOptions<NoInfer<T>>>(
    name: string,
    values: readonly T[],
    options?: O,
  ): Read<T, O>
  /** IP addresses and ranges, separated by commas: `10.0.0.0/8,192.168.1.1`. */
  addresses<const O extends EnvOptions<readonly string[]>>(
    name: string,
    options?: O,
  ): Read<readonly string[], O>
  /** A string that is not blank. */
  secret<const O extends EnvSecretOptions>(name: string, options?: O): Read<string, O>
  /** Secrets separated by commas, for a rotation: the first signs, all verify. */
  secrets<const O extends EnvSecretOptions>(name: string, options?: O): Read<readonly string[], O>
  /**
   * Runs `read` with readers that collect problems and continue, so that one run reports all of them.
   * @throws StartupError for one problem, StartupErrors for several.
   */
  all<T>(read: (env: Env) => T): T
  /** Returns the same readers for other variables than the process's. */
  from(variables: Variables): Env
}

type Report = (problem: StartupError) => never

/** Reads the process's environment variables: `env.port('PORT', { default: 3000 })`. */
export const env: Env = createEnv(processVariables)

function createEnv(variables: () => Variables, report: Report = raise): Env {
  function read<T>(name: string, wanted: kind.Kind<T>, options: EnvOptions<T> = {}): T {
    const raw = variables()[name]
    if (raw !== undefined && raw !== '') return wanted.parse(raw) ?? refuse(name, wanted, notSuch)
    if (options.requiredInProduction === true && isStrict()) return refuse(name, wanted, notSet)
    if (options.default !== undefined) return options.default
    return options.optional ? (undefined as T) : refuse(name, wanted, notSet)
  }

  /** True in production, and for an unknown mode: a mistyped `production` must not relax a rule. */
  function isStrict(): boolean {
    return readEnvironment(variables()) === 'production' || unknownMode(variables()) !== undefined
  }

  const secretKind = ({ strong }: EnvSecretOptions): kind.Kind<string> =>
    strong === true && isStrict() ? kind.strongSecret : kind.secret

  function refuse<T>(name: string, wanted: kind.Kind<T>, explain: typeof notSet): T {
    const isOwn = variables === processVariables
    const problem =
      (isOwn && variables()[name] === undefined ? unloaded(name) : undefined) ?? explain(name, wanted)
    if (!isOwn || !isInspecting()) return report(problem)
    noteProblem(problem)
    return placeholderOf(name, wanted)
  }

  const all = {
    string: (name, options) => read(name, kind.textLike(options?.default, options?.example), options),
    integer: (name, options) => read(name, kind.integer(options ?? {}), options),
    number: (name, options) => read(name, kind.number(options ?? {}), options),
    port: (name, options) => read(name, kind.port, options),
    boolean: (name, options) => read(name, kind.boolean, options),
    url: (name, options) => read(name, kind.url(options?.protocols), options),
    list: (name, options) => read(name, kind.list(options?.separator ?? ','), options),
    duration: (name, options) => read(name, kind.duration, inUnits(options, seconds)),
    bytes: (name, options) => read(name, kind.size, inUnits(options, bytes)),
    oneOf: (name, values, options) => read(name, kind.oneOf(values), options),
    addresses: (name, options) => read(name, kind.addresses, options),
    secret: (name, options = {}) => read(name, secretKind(options), withoutDefault(options)),
    secrets: (name, options = {}) => read(name, kind.secrets(secretKind(options)), withoutDefault(options)),
    all: (callback) => collect(variables, callback),
    from: (others) => createEnv(() => others),
  } satisfies LooseEnv
  const readers = checkedReaders(all)
  // The type `Read` covers undefined; the implementation reads every kind the same way.
  return readers as Env
}

/** The readers. Each refuses unknown options: a misspelt default would otherwise be missing. */
function checkedReaders<R extends LooseEnv>(readers: R): R {
  const checked = Object.entries(READERS).map(([name, [position, keys]]) => {
    const read = readers[name as keyof R] as (...given: unknown[]) => unknown
    return [
      name,
      (...given: unknown[]) => {
        checkOptions(given[position] as object | undefined, { of: `env.${name}()`, keys })
        return read(...given)
      },
    ]
  })
  return { ...readers, ...(Object.fromEntries(checked) as Partial<R>) }
}

/** Types of the readers without their options, for the implementation. */
type LooseEnv = {
  [Reader in Exclude<keyof Env, 'oneOf'>]: (...args: Parameters<Env[Reader]>) => unknown
} & { oneOf(name: string, values: readonly string[], options?: EnvOptions<string>): unknown }

function raise(problem: StartupError): never {
  throw problem
}

/**
 * Collects problems instead of throwing them. If the callback fails because of a missing value, its problem is already
 * collected.
 */
function collect<T>(variables: () => Variables, callback: (env: Env) => T): T {
  const problems: StartupError[] = []
  const note = (problem: StartupError) => void problems.push(problem)
  let result: T
  try {
    // The value after a problem is never used: all() throws at the end.
    result = callback(createEnv(variables, note as unknown as Report))
  } catch (error) {
    if (problems.length === 0) throw error
  }
  const [first, ...others] = problems
  if (first && others.length === 0) throw first
  if (first) throw new StartupErrors(`${problems.length} environment variables are not right.`, problems)
  return result!
}

/** Converts a default such as `'15m'` to the plain unit, like the variable's value. */
function inUnits<V>(
  { default: given, ...others }: EnvOptions<V> = {},
  convert: (value: V) => number,
): EnvOptions<number> {
  return given === undefined ? others : { ...others, default: convert(given) }
}

function withoutDefault({ optional, requiredInProduction }: EnvSecretOptions): EnvOptions<never> {
  return { ...(optional && { optional }), ...(requiredInProduction && { requiredInProduction }) }
}

function notSet(name: string, wanted: kind.Kind<unknown>): StartupError {
  return describe(name, `${name} is not set; it must be ${wanted.expected}.`, wanted)
}

/** The fault of a variable that is in a `.env` file which this process has not read, or undefined. */
function unloaded(name: string): StartupError | undefined {
  const file = unloadedFileWith(name)
  if (file === undefined) return undefined
  return new StartupError(
    `The environment variable ${name} is in ${file}, which this process has not read.`,
    {
      code: 'MORTAR_ENV',
      remedy: `Start with \`npx mortar dev\` or \`node --env-file=${file}\`, or call loadEnvFiles(import.meta.dirname) of mortar before the first read.`,
      files: [file],
    },
  )
}

function notSuch(name: string, wanted: kind.Kind<unknown>): StartupError {
  return describe(name, `${name} is not ${wanted.expected}.`, wanted)
}

function describe(name: string, found: string, { example }: kind.Kind<unknown>): StartupError {
  return new StartupError(`The environment variable ${found}`, {
    code: 'MORTAR_ENV',
    remedy: `Set it in the environment or in .env, such as ${name}=${example}`,
  })
}
