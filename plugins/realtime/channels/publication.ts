import { Invalid } from 'mortar/kit'
import type { ChannelAddress } from './channel.ts'
import type { NewEvent } from './engine.ts'
import { nameOf, type LoadedChannels } from './load-channels.ts'

/** Bytes of JSON that an event may have: larger data belongs in a table, with its id in the event. */
const MOST = 65_536

/** A publication that does not match the definition of its channel. */
export class InvalidPublication extends TypeError {
  override readonly name = 'InvalidPublication'
  /** The broken rules, with paths into the data. */
  readonly issues: Invalid['issues']

  constructor(message: string, { issues }: Pick<Invalid, 'issues'> = { issues: [] }) {
    super(message)
    this.issues = issues
  }
}

/** Returns the name of a channel at an address. @throws InvalidPublication, and TypeError for a missing parameter. */
export async function addressOf(
  { all }: LoadedChannels,
  { channel, params }: ChannelAddress,
): Promise<string> {
  const found = all.find((each) => each.channel === (channel as unknown))
  if (found === undefined)
    throw new InvalidPublication(
      'This channel is not in the directory of channels. Move its file there, and import the channel from that file.',
    )
  const name = nameOf(found.pattern, params)
  const texts = Object.fromEntries(Object.entries(params).map(([key, value]) => [key, String(value)]))
  const result = await found.validate(texts)
  if (!(result instanceof Invalid)) return name
  throw new InvalidPublication(
    `The parameters of the channel ${found.name} are invalid: ${rules(result)}.`,
    result,
  )
}

const rules = ({ issues }: Invalid): string =>
  issues.map(({ path, rule }) => `${path || 'data'} (${rule})`).join(', ')

/** Checks an event. @throws InvalidPublication, and TypeError for a missing parameter. */
export async function newEvent(
  channels: LoadedChannels,
  to: ChannelAddress,
  { name, data }: { readonly name: string; readonly data: unknown },
): Promise<NewEvent> {
  const address = await addressOf(channels, to)
  const { events, keep, name: file } = channels.all.find((each) => each.channel === (to.channel as unknown))!
  const serialize = events.get(name)
  if (serialize === undefined)
    throw new InvalidPublication(
      `The channel ${file} has no event '${name}', only ${[...events.keys()].join(', ')}.`,
    )
  const text = await serialize(data)
  if (text instanceof Invalid)
    throw new InvalidPublication(`The data of the event ${name} of ${file} is invalid: ${rules(text)}.`, text)
  if (Buffer.byteLength(text) > MOST)
    throw new InvalidPublication(`The data of the event ${name} of ${file} is larger than 64 KiB.`)
  return { channel: address, event: name, data: text, keep }
}
