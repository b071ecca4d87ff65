import { expect } from 'chai'
import { HttpError } from 'mortar'
import { IP, type Scene } from '../support/event-scene.ts'
import { EVENT_TYPES } from '../support/event-types.ts'
import { CHANGE, FORGOT, RESET } from '../support/password-events.ts'
import { LOGIN, LOGOUT, REFRESH, SIGNUP } from '../support/session-events.ts'
import { ADA, inWorld, settle, signedUp, type World } from '../support/world.ts'

const TABLE = [...SIGNUP, ...LOGIN, ...REFRESH, ...LOGOUT, ...CHANGE, ...FORGOT, ...RESET]

describe('the events of a flow', () => {
  for (const row of TABLE)
    it(`${row.flow}, ${row.end}`, () =>
      inWorld({ ...row.options, app: { trustProxy: ['127.0.0.1'] } }, async (world) => {
        const scene = await setUp(world)
        await row.before?.(scene)
        await settle(world)
        world.events.length = 0
        expect((await row.act(scene)).status).to.equal(row.status)
        await settle(world)
        expect(world.events.map(({ type, event }) => [type, told(event, scene)])).to.deep.equal(
          row.events(scene).map(([type, event]) => [type, event]),
        )
        for (const { event } of world.events) expect(event).to.include({ ip: IP, requestId: 'request-77' })
      }))

  for (const [status, reason] of [
    [409, 'own_code'],
    [500, 'error'],
    [503, 'busy'],
  ] as const)
    it(`say '${reason}' for an error of status ${status}`, () => {
      const passwordRule = () => {
        throw new HttpError(status, 'No.', { code: 'own_code' })
      }
      return inWorld({ auth: { passwordRule } }, async (world) => {
        expect((await world.client().post('/auth/signup', ADA)).status).to.equal(status)
        expect(world.events.map(({ type, event }) => [type, event['reason']])).to.deep.equal([
          ['auth.signup.failed', reason],
        ])
      })
    })

  it('are all in the list that these tests listen to', () => {
    const inTable = TABLE.flatMap((row) =>
      row.events({ world: null, ada: null, userId: '', sessionId: '' } as never),
    ).map(([type]) => type)
    expect(new Set(inTable)).to.deep.equal(new Set(EVENT_TYPES))
  })
})

async function setUp(world: World): Promise<Scene> {
  const ada = await signedUp(world)
  const { userId, sessionId } = world.events[0]!.event as { userId: string; sessionId: string }
  return { world, ada, userId, sessionId }
}

/** An event without the fields of every event; ids that the scene does not know are `NEW`. */
function told(event: Readonly<Record<string, unknown>>, { userId, sessionId }: Scene): object {
  const { ip: _ip, requestId: _requestId, ...fields } = event
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) =>
      name.endsWith('Id') && value !== userId && value !== sessionId ? [name, 'NEW'] : [name, value],
    ),
  )
}
