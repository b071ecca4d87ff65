import type { ChannelFrame } from '@mortar/realtime/channels/testing'

/** A client of server-sent events that reads as `EventSource` does. */
export interface EventClient {
  next(): Promise<{ readonly id: string; readonly data: ChannelFrame }>
  close(): void
  readonly ended: Promise<void>
  readonly response: Response
}

export async function openEvents(
  url: string,
  { token, lastEventId }: { readonly token?: string; readonly lastEventId?: string } = {},
): Promise<EventClient> {
  const controller = new AbortController()
  const response = await fetch(url, {
    signal: controller.signal,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
  })
  if (response.status !== 200) throw new Error(`The stream was refused with ${response.status}.`)
  const found: { id: string; data: ChannelFrame }[] = []
  let wake = (): void => undefined
  let isOver = false
  const read = async (): Promise<void> => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop()!
      for (const frame of frames) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
        const data = field('data')
        if (data !== undefined) found.push({ id: field('id') ?? '', data: JSON.parse(data) as ChannelFrame })
      }
      wake()
    }
  }
  const ended = read()
    .catch(() => undefined)
    .then(() => {
      isOver = true
      wake()
    })
  return {
    response,
    ended,
    close: () => controller.abort(),
    async next() {
      while (found.length === 0) {
        if (isOver) throw new Error('The stream has ended.')
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return found.shift()!
    },
  }
}
