import { createInterface } from 'node:readline'
import { describeOpenHandles, leftOpenSince, openHandles } from './open-handles.ts'

/** A scene that is being played: the address that it serves, and its end. */
export interface Scene {
  readonly url: string
  close(): Promise<unknown>
}

/**
 * Plays one scene after the other in this process, for `takeProcess`. A line of the input starts a scene with its options
 * as JSON, an empty line ends it. The process fails if a scene leaves something open that would keep it alive.
 */
export async function playScenes<T>(open: (options: T) => Promise<Scene>): Promise<void> {
  const before = openHandles()
  let scene: Scene | undefined
  for await (const line of createInterface(process.stdin)) {
    if (line !== '') {
      scene = await open(JSON.parse(line) as T)
      console.log(scene.url)
      continue
    }
    await scene!.close()
    const left = await leftOpenSince(before)
    if (left.size > 0) throw new Error(`A scene left these open: ${describeOpenHandles(left)}`)
    console.log('closed')
  }
  process.exit()
}
