import type { Inspection } from '../../app/app.ts'
import type { AnyBrick } from '../../bricks/brick.ts'
import type { Cradle } from '../../contracts/services.ts'
import { type Finding, finding, findingsOf, isStartupError } from './finding.ts'

/** Collects the findings of the bricks. A check that throws becomes a finding, and the other checks still run. */
export async function checkBricks({
  bricks,
  services,
}: Pick<Inspection, 'bricks' | 'services'>): Promise<Finding[]> {
  const found = await Promise.all(bricks.map((brick) => checkBrick(brick, services as Cradle)))
  return found.flat()
}

async function checkBrick({ name, doctor }: AnyBrick, services: Cradle): Promise<readonly Finding[]> {
  try {
    return (await doctor?.(services)) ?? []
  } catch (error) {
    if (isStartupError(error)) return findingsOf(error)
    const reason = error instanceof Error ? error.message : String(error)
    return [
      finding(
        'error',
        'MORTAR_DOCTOR_BRICK',
        `The check of the brick '${name}' failed: ${reason}`,
        'Fix the cause, or report it to the author of the brick.',
      ),
    ]
  }
}
