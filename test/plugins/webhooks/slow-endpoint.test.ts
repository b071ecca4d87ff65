import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import * as jobsSchema from '@mortar/jobs/schema'
import { webhooks } from '@mortar/webhooks'
import * as webhooksSchema from '@mortar/webhooks/schema'
import { createPlaces } from '../../../plugins/webhooks/sending/places.ts'
import { keptAfter } from '../../support/collect-garbage.ts'
import { KINDS } from '../database/databases.ts'
import { jobsApp } from '../jobs/applications.ts'
import { invoicePaid, LOCAL } from './events.ts'
import { startReceiver } from './receiver.ts'

const SCHEMA = [jobsSchema, webhooksSchema]
const DATA = { invoice: '1001' }

describe('An endpoint that does not respond', () => {
  const place = KINDS['SQLite']!()
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  const app = () =>
    jobsApp(place().options(SCHEMA), { patience: '10ms' }, { environment: 'development' }).use(
      webhooks({ events: [invoicePaid], ...LOCAL }),
    )
  let running: ReturnType<typeof app>

  beforeEach(async () => {
    await (await place().open(SCHEMA)).synchronize()
    receiver = await startReceiver()
    running = app()
    await running.ready()
  })
  afterEach(async () => {
    await receiver.close()
    await running.close()
  })

  it('leaves a place to others, and its further deliveries wait without an attempt', async () => {
    const { webhooks: service } = running.services
    const slow = service.endpointsOf('ada')
    const { id } = await slow.add({ url: `${receiver.url}/slow` })
    await service.endpointsOf('bob').add({ url: receiver.url })
    const waiting: ServerResponse[] = []
    const delivered = new Promise<void>((resolve) => {
      receiver.behaviour.respond = (request, response) => {
        if (request.url === '/hooks/slow') return void waiting.push(response)
        response.writeHead(204).end(resolve)
      }
    })
    for (let count = 0; count < 3; count++) await service.send(invoicePaid, DATA, { owner: 'ada' })
    await service.send(invoicePaid, DATA, { owner: 'bob' })
    await delivered
    expect(waiting).to.have.lengthOf(1)

    receiver.behaviour.respond = (_request, response) => void response.writeHead(204).end()
    waiting[0]!.writeHead(204).end()
    while ((await slow.deliveries(id, { state: 'delivered' })).length < 3) await wait(20)
    expect((await slow.deliveries(id)).map(({ attempts }) => attempts)).to.deep.equal([1, 1, 1])
    expect(receiver.received).to.have.lengthOf(4)
  })

  it('has not failed when the process stops meanwhile', async () => {
    const { webhooks: service } = running.services
    const { id } = await service.endpointsOf('ada').add({ url: receiver.url })
    const asked = new Promise<void>((resolve) => {
      receiver.behaviour.respond = () => resolve()
    })
    await service.send(invoicePaid, DATA, { owner: 'ada' })
    await asked
    await running.close()
    receiver.behaviour.respond = (_request, response) => void response.writeHead(204).end()
    running = app()
    await running.ready()
    const ada = running.services.webhooks.endpointsOf('ada')
    while ((await ada.deliveries(id, { state: 'delivered' })).length === 0) await wait(20)
    expect((await ada.deliveries(id)).map(({ attempts }) => attempts)).to.deep.equal([1])
  })

  it('lets the next delivery try soon again once one of its places is free', () => {
    const places = createPlaces(2)
    const postponed = (): unknown => {
      try {
        return places.occupy('ada')
      } catch (error) {
        return (error as { readonly postponedFor: number }).postponedFor
      }
    }
    const [free] = [places.occupy('ada'), places.occupy('ada')]
    const delays = Array.from({ length: 20 }, postponed)
    // The first after a second, and each other one half a second after the one before.
    expect(delays[0]).to.be.closeTo(1000, 1)
    expect(delays.at(-1)).to.be.within(10_000, 10_501)
    free()
    places.occupy('ada')
    expect(postponed()).to.be.closeTo(1000, 1)
  })

  it('is forgotten after its last delivery', async () => {
    const places = createPlaces(1)
    expect(await keptAfter((endpoint) => places.occupy(endpoint)())).to.be.below(5e6)
  })
})
