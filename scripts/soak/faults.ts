import { setTimeout as wait } from 'node:timers/promises'
import type { Engine } from './engines/engine.ts'
import type { Instance } from './instance.ts'
import type { RedisEngine } from './redis.ts'
import type { World } from './requests.ts'

/** Seconds between two faults. */
const PAUSE = 6

/** Breaks one thing after the other in random order until `stopped()`, and leaves everything whole. */
export async function breakThings(
  world: World,
  { engine, redis, only }: { readonly engine: Engine; readonly redis: RedisEngine; readonly only: string },
  { stopped, log, random }: { stopped: () => boolean; log: (line: string) => void; random: () => number },
): Promise<void> {
  const faults: (readonly [name: string, run: () => Promise<void>])[] = [
    ['SIGTERM', () => restart(world, log)],
    ...Object.entries(engine.faults).map(
      ([name, run]) => [name, () => world.disturbances.during(run)] as const,
    ),
    ...Object.entries(redis.faults),
    ['kill -9', () => killOne(world)],
    ['a process frozen for 5 s', () => world.disturbances.during(() => anyOf(world.instances).freeze(5000))],
    ['a log unread for 5 s', () => anyOf(world.instances).leaveUnread(5000)],
  ]
  const chosen = faults.filter(([name]) => name.includes(only))
  if (chosen.length === 0)
    throw new Error(`No fault is called '${only}'. Use a part of ${faults.map(([name]) => name).join(', ')}.`)
  while (!stopped())
    for (const [name, run] of shuffled(chosen, random)) {
      for (let second = 0; second < PAUSE && !stopped(); second++) await wait(1000)
      if (stopped()) return
      log(name)
      world.signals.begin(name)
      await run()
      world.findings.count(`fault: ${name}`)
    }
}

/** Each fault once, in random order. */
function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item)
}

/** Stops one process gracefully, while the others serve, and starts it again. */
async function restart(world: World, log: (line: string) => void): Promise<void> {
  const instance = anyOf(world.instances)
  const { code, ms, leftFiles } = await instance.stop()
  log(`${instance.name} ended with ${code} after ${ms} ms`)
  if (code !== 0)
    world.findings.add('SIGTERM does not exit with 0', `${instance.name}: ${code}\n${instance.output}`)
  if (leftFiles.length > 0) world.findings.add('temporary files left', leftFiles.join(' '))
  await instance.start()
}

async function killOne(world: World): Promise<void> {
  const instance = anyOf(world.instances)
  await instance.kill()
  await wait(500)
  await instance.start()
}

function anyOf(instances: readonly Instance[]): Instance {
  return instances[Math.floor(Math.random() * instances.length)]!
}
