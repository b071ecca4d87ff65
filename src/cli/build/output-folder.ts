import { existsSync, readdirSync } from 'node:fs'
import { StartupError } from '../../errors/startup-error.ts'
import { readRecord } from './build-record.ts'
import { isInside, type Project } from '../project/project.ts'

/**
 * Checks the output folder, which a build replaces: it must be missing, empty or made by an earlier build.
 * @throws StartupError `MORTAR_BUILD_OUTPUT` for any other folder.
 */
export async function refuseForeignOutput({ out, root, app }: Project): Promise<void> {
  if (!isInside(out, root) || isInside(app, out))
    throw foreign(out, 'is outside the project or contains the sources', 'Name')
  if (!existsSync(out) || readRecord(out) !== undefined || readdirSync(out).length === 0) return
  throw foreign(out, 'contains files that no build made', 'Delete it, or name')
}

function foreign(out: string, what: string, remedy: string): StartupError {
  return new StartupError(`The output folder ${out} ${what}, and a build would replace it.`, {
    code: 'MORTAR_BUILD_OUTPUT',
    remedy: `${remedy} another folder of the project with --out or "mortar": { "out": … } in package.json.`,
    files: [out],
  })
}
