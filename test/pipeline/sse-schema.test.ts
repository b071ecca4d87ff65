import { expect } from 'chai'
import { createApp, createRouter, sse } from 'mortar'
import { object, number, string } from 'yup'
import { recorder } from '../app/recorder.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'

/** A schema that is not of yup. */
const standard = (validate: (value: unknown) => unknown) => ({
  '~standard': { version: 1, vendor: 'test', validate },
})
const isNumbered = (value: unknown): boolean => typeof (value as { n?: unknown } | null)?.n === 'number'
const text = (value: unknown): object =>
  typeof value === 'string' ? { value } : { issues: [{ message: 'wrong' }] }
const numbered = (value: unknown): object =>
  isNumbered(value) ? { value: { n: (value as { n: number }).n } } : { issues: [{ message: 'wrong' }] }

/** Schemas of an object and of a string. */
const KINDS: Readonly<Record<string, readonly [ofObject: unknown, ofText: unknown]>> = {
  'of yup': [object({ n: number().required() }), string().required()],
  'that validates immediately': [standard(numbered), standard(text)],
  'that validates later': [
    standard(async (value) => numbered(value)),
    standard(async (value) => text(value)),
  ],
}

describe('The schema of the events of a route', () => {
  throughBothAdapters((open) => {
    for (const [kind, [ofObject, ofText]] of Object.entries(KINDS)) {
      /** Sends events, the last one when the client has those before. Returns what it gets, and the log. */
      async function eventsOf(schema: unknown, ...events: readonly unknown[]) {
        const lines: string[] = []
        const hasFirst = deferred()
        const response = { 200: { type: 'text/event-stream', schema } } as never
        const source = async function* () {
          yield* events.slice(0, -1)
          await hasFirst.promise
          yield events.at(-1)
        }
        const app = createApp({ logger: recorder(lines), environment: 'test' }).use(
          createRouter().get('/', { response }, (ctx) => sse(ctx, source as never)),
        )
        const { fetch } = await open(app)
        const reader = (await fetch('/')).body!.pipeThrough(new TextDecoderStream()).getReader()
        let received = ''
        const read = async (): Promise<string> => {
          for (let part = await reader.read(); !part.done; part = await reader.read()) {
            received += part.value
            hasFirst.resolve()
          }
          return 'complete'
        }
        const ending = await read().catch(() => 'cut off')
        return { received, ending, errors: lines.filter((line) => line.startsWith('error')) }
      }

      it(`passes valid data, without unknown fields where it drops them: ${kind}`, async () => {
        const { received, ending } = await eventsOf(
          ofObject,
          { data: { n: 1, secret: 'x' } },
          { data: { n: 2 } },
        )
        expect([received, ending]).to.deep.equal(['data: {"n":1}\n\ndata: {"n":2}\n\n', 'complete'])
      })

      it(`passes text without quotes, and events without data: ${kind}`, async () => {
        const events = ['"a"', { id: 1 }, { data: 'b\nc' }, { data: 'd', event: 'e' }]
        const { received, ending } = await eventsOf(ofText, ...events)
        const written = 'data: "a"\n\nid: 1\n\ndata: b\ndata: c\n\nevent: e\ndata: d\n\n'
        expect([received, ending]).to.deep.equal([written, 'complete'])
      })

      it(`cuts the response off at invalid data, and logs the route: ${kind}`, async () => {
        for (const [schema, good, bad] of [
          [ofObject, { n: 1 }, { n: 'one' }],
          [ofText, 'text', { n: 1 }],
        ]) {
          const { received, ending, errors } = await eventsOf(schema, { data: good }, { data: bad })
          expect([received.split('\n\n').length, ending]).to.deep.equal([2, 'cut off'])
          expect(errors.join('\n')).to.match(/The response of GET \/ .*does not match the schema for 200/)
        }
      })
    }
  })
})
