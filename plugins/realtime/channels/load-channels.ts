import { NotFound, type Schema, StartupErrors, type AuthRequirement } from 'mortar'
import {
  checkOptions,
  compileSerializer,
  compileValidator,
  createFolderPaths,
  importFolder,
  milliseconds,
  type FolderFile,
  type FolderPaths,
  type Serializer,
} from 'mortar/kit'
import { definitionOf, type Channel, type ChannelDefinition } from './channel.ts'
import { fault } from './startup-codes.ts'

/** Characters of the name of a channel, with its parameters. */
const LONGEST = 200

/** A channel with its name and checked definition. */
export interface LoadedChannel {
  /** Path of its file in the folder: `rooms/[id]`. */
  readonly name: string
  readonly file: string
  readonly channel: Channel
  /** `/rooms/:id`. */
  readonly pattern: string
  readonly auth: AuthRequirement
  /** Returns the parameters, or an `Invalid`; a promise of either if the schema is asynchronous. */
  readonly validate: (params: unknown) => unknown
  readonly events: ReadonlyMap<string, Serializer>
  readonly hasPresence: boolean
  /** Milliseconds. */
  readonly keep: number
}

/** A subscribable channel: its name, such as `rooms/7`, and its parameters as raw strings. */
export interface FoundChannel {
  readonly name: string
  readonly params: Readonly<Record<string, string>>
  readonly loaded: LoadedChannel
}

/** The channels of an application. */
export interface LoadedChannels {
  readonly all: readonly LoadedChannel[]
  /** @throws NotFound, and BadRequest for a malformed escape. */
  find(name: string): FoundChannel
}

/**
 * Imports every channel file below a folder, in code-unit order. Files and folders whose names begin with `_` or `.`, tests
 * and declarations are ignored.
 * @throws StartupErrors with every broken file, and StartupError `MORTAR_CHANNELS_DIRECTORY`.
 */
export async function loadChannels(directory: string | URL): Promise<LoadedChannels> {
  const paths = createFolderPaths<LoadedChannel>()
  const { folder, found, problems } = await importFolder<LoadedChannel>(directory, {
    of: 'directory of channels',
    fault: (kind, text, options) =>
      fault(kind === 'file' ? 'MORTAR_CHANNELS_FILE' : 'MORTAR_CHANNELS_DIRECTORY', text, options),
    read: (value, file, others) => readFile(value, file, { paths, others }),
  })
  if (problems.length > 0)
    throw new StartupErrors(`${problems.length} findings in the channels of ${folder}:`, problems)
  return { all: found, find: (name) => find(paths, name) }
}

function find(paths: FolderPaths<LoadedChannel>, name: string): FoundChannel {
  const match = paths.find(`/${name}`)
  const encoded = match && encode(match.target.pattern, match.params)
  if (encoded === undefined || encoded.length > LONGEST) throw new NotFound('This channel does not exist.')
  return { name: encoded, params: match!.params, loaded: match!.target }
}

/**
 * Returns the name of a channel with these parameters, percent-encoded: `rooms/7`.
 * @throws TypeError for a missing parameter, and for a name of more than 200 characters.
 */
export function nameOf(pattern: string, params: Readonly<Record<string, unknown>>): string {
  const name = encode(pattern, params)
  if (name.length > LONGEST) throw new TypeError(`The name of a channel of ${pattern} is too long.`)
  return name
}

function encode(pattern: string, params: Readonly<Record<string, unknown>>): string {
  const parts = pattern.split('/').slice(1)
  return parts.map((part) => segmentOf(part, params)).join('/')
}

function segmentOf(part: string, params: Readonly<Record<string, unknown>>): string {
  if (!/^[:*]/.test(part)) return part
  const value = params[part.slice(1)]
  if ((typeof value !== 'string' && typeof value !== 'number') || value === '')
    throw new TypeError(`The channel has no text or number for its parameter ${part.slice(1)}.`)
  const text = String(value)
  if (/\p{Surrogate}/u.test(text))
    throw new TypeError(`The parameter ${part.slice(1)} of the channel has half of a surrogate pair.`)
  return part.startsWith('*') ? text.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(text)
}

interface Others {
  readonly paths: FolderPaths<LoadedChannel>
  readonly others: readonly LoadedChannel[]
}

type Definition = ChannelDefinition<never, never>

function readFile(value: unknown, file: FolderFile, { paths, others }: Others): LoadedChannel {
  const { path, name } = file
  const definition = definitionOf(value)
  if (definition === undefined)
    throw fault('MORTAR_CHANNELS_FILE', `${path} has no default export that channel() made.`, {
      files: [path],
    })
  const refuse: Refuse = (found, remedy) => {
    throw fault('MORTAR_CHANNELS_FILE', `${path} ${found}.`, { files: [path], ...(remedy && { remedy }) })
  }
  checkOptions(definition as Definition, {
    of: `the channel ${path}`,
    brick: 'channels',
    code: 'MORTAR_CHANNELS_FILE',
    keys: { auth: 'anything', params: 'anything', events: 'object', presence: 'boolean', keep: 'period' },
  })
  const { auth, params, events, presence = false, keep = '10m' } = definition
  if (auth === undefined)
    refuse('has no `auth`', 'Write true for any signed-in user, a policy name, or false for everybody.')
  if (others.some(({ channel }) => channel === value)) refuse('is the same channel as another file')
  const loaded = {
    name,
    file: path,
    channel: value as Channel,
    auth,
    validate: params === undefined ? (given: unknown) => given : compileValidator(params, 'params').validate,
    events: new Map(
      Object.entries(events ?? {}).map(([event, schema]) => [event, serializerOf(event, schema, refuse)]),
    ),
    hasPresence: presence,
    keep: milliseconds(keep),
    pattern: '',
  }
  if (loaded.events.size === 0) refuse('has no `events`', 'Write events: { message: object({ … }) }.')
  loaded.pattern = paths.add(file, { auth, ...(params !== undefined && { params }) }, loaded)
  return loaded
}

type Refuse = (found: string, remedy?: string) => never

function serializerOf(event: string, schema: Schema, refuse: Refuse): Serializer {
  try {
    return compileSerializer(schema)
  } catch {
    return refuse(`has no schema for its event '${event}'`, 'Give a yup schema or a Standard Schema.')
  }
}
