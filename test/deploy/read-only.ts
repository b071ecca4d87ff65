import { spawn, spawnSync } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  chmodSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApplication } from '../../scripts/soak/application.ts'
import { ROOT } from '../architecture/tree.ts'
import { type ChildOutput, outputOf } from '../docs/child-output.ts'
import { freePort } from '../support/free-port.ts'
import { skipSuite } from '../support/servers.ts'
import { readStages, textOf } from './dockerfile.ts'
import { readDeployFile } from './files.ts'

/** `nobody`, whom the files of no package belong to. */
const USER = 65_534

/** Run as root in a mount namespace of its own: only the folders for data and for temporary files can be written. */
const ENTER = `
mount --bind "$CONTAINER" "$CONTAINER"
mount --bind "$DATA" "$DATA"
mount -t tmpfs -o size=32m,mode=1777 tmpfs "$TMPDIR"
mount -o remount,ro,bind "$CONTAINER"
mount -o remount,ro,bind /
exec setpriv --reuid=${USER} --regid=${USER} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
`

/** The reference application as the Dockerfile lays it out, without Docker. */
export interface Container {
  readonly url: string
  /** Runs a command of the Dockerfile or of the manifest to its end. */
  run(command: readonly string[]): { status: number | null; output: string }
  start(command: readonly string[]): { output: ChildOutput; stop(): Promise<number | null> }
  remove(): void
}

/** Skips the suite whose body is being read where such a container cannot be made. */
export function needsReadOnlyRoot(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) skipSuite('needs Linux and root')
  else if (!existsSync(join(ROOT, 'src/dist/cli/main.js'))) skipSuite('the package is not built')
  else if (spawnSync('unshare', ['--mount', 'setpriv', '--version']).status !== 0)
    skipSuite('unshare or setpriv does not work')
  else if (!isReadable()) skipSuite('another user cannot read the repository')
}

function isReadable(): boolean {
  const user = [`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups']
  return spawnSync('setpriv', [...user, 'test', '-r', join(ROOT, 'package.json')]).status === 0
}

/** Builds the reference application, and lays out its files as the last stage of the Dockerfile does. */
export async function createContainer(variables: Readonly<Record<string, string>>): Promise<Container> {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-container-'))
  chmodSync(directory, 0o755)
  const [image, data, temporary] = ['image', 'data', 'tmp'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  const build = await buildApplication(join(directory, 'build'))
  cpSync(build, image, { recursive: true, verbatimSymlinks: true })
  installInto(image, join(directory, 'build/node_modules'))
  for (const folder of [data, temporary]) mkdirSync(folder)
  // The user owns the image too, so that only the mount keeps it from a change.
  for (const folder of [data, image]) chownSync(folder, USER, USER)
  const port = await freePort()
  const env = {
    PATH: process.env['PATH'],
    ...environmentOf(readDeployFile('Dockerfile')),
    HOST: '127.0.0.1',
    PORT: String(port),
    CONTAINER: directory,
    DATA: data,
    TMPDIR: temporary,
    DATABASE_URL: `sqlite:${join(data, 'notes.db')}`,
    ...variables,
  }
  const enter = (command: readonly string[]): string[] => [
    '--mount',
    '--',
    'sh',
    '-ec',
    ENTER,
    'sh',
    ...command,
  ]
  return {
    url: `http://127.0.0.1:${port}`,
    run(command) {
      const done = spawnSync('unshare', enter(command), { cwd: image, env, encoding: 'utf8' })
      return { status: done.status, output: done.stdout + done.stderr }
    },
    start(command) {
      const child = spawn('unshare', enter(command), { cwd: image, env, stdio: ['ignore', 'pipe', 'pipe'] })
      const exited = new Promise<number | null>((resolve) => {
        child.once('exit', resolve)
      })
      const stop = (): Promise<number | null> => {
        child.kill('SIGTERM')
        return exited
      }
      return { output: outputOf(child), stop }
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** A folder of links in place of the copied packages, with the command that npm installs. */
function installInto(image: string, modules: string): void {
  mkdirSync(join(modules, '.bin'))
  symlinkSync('../mortar/dist/cli/main.js', join(modules, '.bin/mortar'))
  symlinkSync(modules, join(image, 'node_modules'))
}

function environmentOf(dockerfile: string): Record<string, string> {
  const text = textOf(readStages(dockerfile).at(-1)!, 'ENV')
  return Object.fromEntries(text.split(' ').map((pair) => pair.split('=') as [string, string]))
}
