import { StartupError } from '../errors/startup-error.ts'
import { didYouMean } from '../support/nearest.ts'
import type { AnyBrick } from './brick.ts'

/**
 * Orders bricks so that each follows the bricks that it requires, and otherwise in the order of registration.
 * `provided` lists the services of the framework and of the application itself.
 * @throws StartupError for a duplicate name, a missing requirement or a circle, naming the bricks and the remedy.
 */
export function orderBricks(bricks: readonly AnyBrick[], provided: ReadonlySet<string>): readonly AnyBrick[] {
  const byName = indexByName(bricks)
  const ordered: AnyBrick[] = []
  const done = new Set<AnyBrick>()

  function visit(brick: AnyBrick, path: readonly AnyBrick[]): void {
    if (done.has(brick)) return
    if (path.includes(brick)) throw circle([...path.slice(path.indexOf(brick)), brick])
    for (const needed of neededBy(brick, bricks, byName, provided)) visit(needed, [...path, brick])
    done.add(brick)
    ordered.push(brick)
  }

  for (const brick of bricks) visit(brick, [])
  return ordered
}

function indexByName(bricks: readonly AnyBrick[]): ReadonlyMap<string, AnyBrick> {
  const byName = new Map<string, AnyBrick>()
  for (const brick of bricks) {
    if (byName.has(brick.name))
      throw new StartupError(`The brick '${brick.name}' is registered twice.`, {
        code: 'MORTAR_BRICK_DUPLICATE',
        remedy: `Remove one of the two, or give the second another name.`,
        brick: brick.name,
      })
    byName.set(brick.name, brick)
  }
  return byName
}

function neededBy(
  brick: AnyBrick,
  bricks: readonly AnyBrick[],
  byName: ReadonlyMap<string, AnyBrick>,
  provided: ReadonlySet<string>,
): AnyBrick[] {
  const required = (brick.requires ?? []).flatMap((name) => {
    const found = byName.get(name) ?? bricks.find((other) => Object.hasOwn(other.services ?? {}, name))
    if (!found && !provided.has(name)) throw missing(brick, name, bricks)
    return found && found !== brick ? [found] : []
  })
  return [...required, ...(brick.after ?? []).flatMap((name) => byName.get(name) ?? [])]
}

function missing(brick: AnyBrick, name: string, bricks: readonly AnyBrick[]): StartupError {
  const known = bricks.flatMap((other) => [other.name, ...Object.keys(other.services ?? {})])
  return new StartupError(
    `The brick '${brick.name}' requires '${name}', but no brick or service has that name.`,
    {
      code: 'MORTAR_BRICK_MISSING',
      remedy: didYouMean(
        name,
        known,
        `Register a brick with the name or the service '${name}' beside '${brick.name}'.`,
      ),
      brick: brick.name,
    },
  )
}

function circle(path: readonly AnyBrick[]): StartupError {
  const names = path.map(({ name }) => name).join(' → ')
  return new StartupError(`Bricks require each other in a circle: ${names}.`, {
    code: 'MORTAR_BRICK_CIRCULAR',
    remedy: 'Move the shared part into a third brick that both require.',
    brick: path[0]!.name,
  })
}
