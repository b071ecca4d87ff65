import { existsSync } from 'node:fs'
import { StartupError } from '../../errors/startup-error.ts'
import { manifestPath, readManifestFiles, refuseStale } from '../../files/manifest.ts'
import { isOlder, readRecord } from '../build/build-record.ts'
import type { Project } from '../project/project.ts'
import { type Finding, findingsOf } from './finding.ts'

/** Checks that the manifest and the output of the last build, if any, match the current sources. */
export async function checkBuild({ root, out, routes }: Project): Promise<Finding[]> {
  const manifest = routes === undefined ? undefined : manifestPath(routes, '.ts')
  const record = readRecord(out)
  try {
    if (routes !== undefined && manifest !== undefined && existsSync(manifest))
      await refuseStale(routes, await readManifestFiles(manifest))
    if (record === undefined || !(await isOlder(record, root))) return []
    throw new StartupError(`The build in ${out} is older than its sources.`, {
      code: 'MORTAR_BUILD_STALE',
      remedy: 'Run `npx mortar build` again.',
    })
  } catch (error) {
    return findingsOf(error).map((found) => ({ ...found, level: 'warning' }))
  }
}
