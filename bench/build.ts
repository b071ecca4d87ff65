import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** Builds the package when a source is newer than the last build. @throws Error when the build fails. */
export function buildWhenStale(): void {
  const built = join(ROOT, 'src/dist/index.js')
  const newest = Math.max(...['src', 'plugins'].map((folder) => newestIn(join(ROOT, folder))))
  if (existsSync(built) && statSync(built).mtimeMs >= newest) return
  console.log('Building …')
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error('The build failed; fix it, or use dist unchanged with --no-build.')
}

function newestIn(folder: string): number {
  return Math.max(
    ...readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && !/\/(?:dist|node_modules)(?:\/|$)/.test(entry.parentPath))
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  )
}
