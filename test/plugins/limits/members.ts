import { join } from 'node:path'
import { takeProcess } from '../../support/kept-process.ts'
import type { MemberOptions } from './member.ts'

/** `open`: the process that has a transaction open. `keys`: number of keys that the requests ask in turn. */
export interface Storm {
  readonly open?: number
  readonly keys?: number
}

/** Processes that count together. */
export interface Members {
  /** Sends `count` requests in each process at the same time. @returns how often each status came, in all of them. */
  storm(key: string, count: number, how?: Storm): Promise<Record<number, number>>
  stop(): Promise<void>
}

const MEMBER = join(import.meta.dirname, 'member.ts')

/** Starts processes with the same settings. */
export async function startMembers(size: number, options: MemberOptions): Promise<Members> {
  const members = await Promise.all(Array.from({ length: size }, () => takeProcess(MEMBER, options)))
  return {
    async storm(key, count, { open, keys = 1 } = {}) {
      const replies = await Promise.all(
        members.map(async ({ url }, index) => {
          const reply = await fetch(
            `${url}/storm/${key}?count=${count}&keys=${keys}${index === open ? '&open=1' : ''}`,
          )
          if (reply.status !== 200)
            throw new Error(`A member responded ${reply.status}: ${await reply.text()}`)
          return (await reply.json()) as Record<number, number>
        }),
      )
      return sum(replies)
    },
    stop: async () => void (await Promise.all(members.map((member) => member.release()))),
  }
}

function sum(replies: readonly Record<number, number>[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const reply of replies)
    for (const [status, count] of Object.entries(reply))
      counts[Number(status)] = (counts[Number(status)] ?? 0) + count
  return counts
}
