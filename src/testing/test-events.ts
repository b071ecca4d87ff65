import type { Readable } from 'node:stream'
import { parsedJson } from './parsed-json.ts'

/** A server-sent event, as `EventSource` receives it. */
export interface TestEvent<Data> {
  /** Its name; `message` without one. */
  readonly event: string
  /** The last id that the client has received, for `lastEventId` of the next request; empty without one. */
  readonly id: string
  readonly text: string
  /** The text as JSON; undefined when it is not JSON. */
  readonly data: Data
}

/** The events of an open stream. Each one is read when the test asks for it; leaving a loop closes the stream. */
export interface TestEvents<Data> extends AsyncIterable<TestEvent<Data>> {
  /** The next event. @throws Error if the stream has ended, or is cut off. */
  next(): Promise<TestEvent<Data>>
  /** Leaves, as a client that closes its connection does. */
  close(): void
}

/** Reads the events of a body; `leaving` ends its request. */
export function readEvents<Data>(body: Readable, leaving: AbortController): TestEvents<Data> {
  const events = eventsOf<Data>(body, leaving)
  return {
    async next() {
      const { done, value } = await events.next()
      if (done === true) throw new Error('The stream of events has ended.')
      return value
    },
    close: () => leaving.abort(),
    [Symbol.asyncIterator]: () => events,
  }
}

async function* eventsOf<Data>(
  body: Readable,
  leaving: AbortController,
): AsyncGenerator<TestEvent<Data>, void, void> {
  const parser = new EventParser()
  try {
    for await (const chunk of body.setEncoding('utf8'))
      for (const event of parser.parse(chunk as string)) yield event as TestEvent<Data>
  } catch (error) {
    if (!leaving.signal.aborted) throw error
  } finally {
    leaving.abort()
  }
}

/** The parser of HTML, section 9.2.6. */
class EventParser {
  #rest = ''
  #id = ''
  #name = ''
  #data: string[] = []

  #event(): TestEvent<unknown> {
    const text = this.#data.join('\n')
    return { event: this.#name || 'message', id: this.#id, text, data: parsedJson(text) }
  }

  *parse(chunk: string): Generator<TestEvent<unknown>> {
    // A carriage return at the end may be half of a line break.
    const lines = (this.#rest + chunk).split(/\r\n|\n|\r(?!$)/)
    this.#rest = lines.pop()!
    for (const line of lines) {
      if (line !== '') this.#take(line)
      else if (this.#data.length > 0) yield this.#event()
      if (line === '') [this.#name, this.#data] = ['', []]
    }
  }

  #take(line: string): void {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#name = value
    else if (field === 'id') this.#id = value
  }
}
