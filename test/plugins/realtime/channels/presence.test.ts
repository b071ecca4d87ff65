import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import type { ChannelEngine, Member } from '../../../../plugins/realtime/channels/engine.ts'
import { Presence } from '../../../../plugins/realtime/channels/presence.ts'
import { keptAfter } from '../../../support/collect-garbage.ts'

describe('The presence of channels', () => {
  const enter = (presence: Presence) => presence.enter('rooms/1', 'ada')
  const leave = (presence: Presence) => presence.leave('rooms/1', 'ada')
  const cases = {
    'a user who comes back while his leave is slow': ['leave', [enter, leave, enter], ['ada']],
    'a user who goes while his entry is slow': ['enter', [enter, leave], []],
    'a user who goes while the leases are renewed slowly': [
      'enter',
      [enter, (presence: Presence) => presence.tick(), leave],
      [],
    ],
  } as const
  for (const [name, [slow, acts, expected]] of Object.entries(cases))
    it(`keeps the order of changes: ${name}`, async () => {
      const there = new Set<string>()
      const change = (kind: string, act: (user: string) => unknown) => async (members: readonly Member[]) => {
        for (let turns = kind === slow ? 5 : 0; turns > 0; turns--) await turn()
        for (const { user } of members) act(user)
      }
      const engine: Partial<ChannelEngine> = {
        enter: change('enter', (user) => there.add(user)),
        leave: change('leave', (user) => there.delete(user)),
        present: async () => [],
      }
      const presence = new Presence(engine as ChannelEngine, () => undefined)
      // The first act ends before the others begin, unless it is the slow one.
      const [first, ...others] = acts
      const begun = first(presence)
      if (slow === 'leave' || others.length > 1) await begun
      await Promise.all([begun, ...others.map((act) => act(presence))])
      expect([...there]).to.deep.equal(expected)
    })

  it('reports the users of each channel to that channel only', async () => {
    let there: Member[] = ['news', 'rooms'].map((channel) => ({ channel, user: `${channel}-reader` }))
    const change = async (): Promise<void> => undefined
    const engine: Partial<ChannelEngine> = { enter: change, leave: change, present: async () => there }
    const seen: string[] = []
    const presence = new Presence(engine as ChannelEngine, (...report) => seen.push(report.join(' ')))
    for (const channel of ['news', 'rooms']) await presence.enter(channel, undefined)
    await presence.tick()
    expect(presence.usersOf('news')).to.deep.equal(['news-reader'])
    there = [{ channel: 'rooms', user: 'ada' }]
    await presence.tick()
    expect(seen).to.deep.equal([
      'news join news-reader',
      'rooms join rooms-reader',
      'news leave news-reader',
      'rooms join ada',
      'rooms leave rooms-reader',
    ])
    expect(presence.usersOf('other')).to.deep.equal([])
  })

  it('ends each lease once if a subscription ends after the stop', async () => {
    const left: Member[] = []
    const engine: Partial<ChannelEngine> = {
      enter: async () => undefined,
      leave: async (members) => void left.push(...members),
      present: async () => [],
    }
    const presence = new Presence(engine as ChannelEngine, () => undefined)
    await enter(presence)
    await enter(presence)
    await presence.stop()
    await leave(presence)
    await leave(presence)
    expect(left).to.deep.equal([{ channel: 'rooms/1', user: 'ada' }])
  })

  it('keeps a user until the last of his subscriptions has ended', async () => {
    let left = 0
    const engine: Partial<ChannelEngine> = {
      enter: async () => undefined,
      leave: async (members) => void (left += members.length),
      present: async () => [],
    }
    const presence = new Presence(engine as ChannelEngine, () => undefined)
    for (let count = 0; count < 3; count++) await enter(presence)
    for (const expected of [0, 0, 1]) {
      await leave(presence)
      expect(left).to.equal(expected)
    }
  })

  it('leaves nothing of a channel after its last subscription', async () => {
    const change = async (): Promise<void> => undefined
    const engine: Partial<ChannelEngine> = { enter: change, leave: change, present: async () => [] }
    const presence = new Presence(engine as ChannelEngine, () => undefined)
    const kept = await keptAfter(async (name) => {
      await presence.enter(name, 'ada')
      await presence.leave(name, 'ada')
    })
    expect(kept).to.be.below(5e6)
  })
})
