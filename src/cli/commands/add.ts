import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { addToBricks, linesOf } from '../add/edit-bricks.ts'
import { allowScripts, runInstallation } from '../add/install.ts'
import { findPackageManager, installation } from '../add/package-manager.ts'
import { type Addition, planAddition } from '../add/plan-addition.ts'
import type { Command, CommandInput } from '../command.ts'
import { frameworkManifest } from '../framework-manifest.ts'
import { findProject, PROJECT_OPTIONS, type Project, shown } from '../project/project.ts'

/** Makes a brick part of an application: installs its optional packages and adds it to config/bricks.ts. */
export const add: Command = {
  name: 'add',
  summary: 'Install the packages of a brick and add it to config/bricks.ts',
  usage: 'add BRICK [--driver NAME] [--provider NAME] [--dry-run]',
  options: {
    app: PROJECT_OPTIONS.app,
    driver: { type: 'string', help: 'of database: better-sqlite3 (the default), pg or mysql2' },
    provider: { type: 'string', help: 'of auth: basic (the default), document, hosted or library' },
    'dry-run': { type: 'boolean', help: 'print what would be done, and change nothing' },
  },
  async run(input) {
    const project = findProject(input)
    const addition = planAddition(input, project.root, frameworkManifest())
    await installPackages(addition, project, input)
    registerBrick(addition, project, input)
    return 0
  },
}

async function installPackages(
  { name, installations }: Addition,
  { root, manifest }: Project,
  { values, terminal }: CommandInput,
): Promise<void> {
  if (installations.length === 0) return terminal.note(`The packages of ${name} are installed.`)
  const manager = findPackageManager(root, manifest)
  for (const each of installations) {
    const command = installation(manager, each)
    terminal.note(command.join(' '))
    if (values['dry-run'] === true) continue
    if (manager === 'npm') allowScripts(each.scripts, root)
    await runInstallation(command, root)
  }
}

function registerBrick({ name, parts }: Addition, project: Project, input: CommandInput): void {
  const { terminal, values, directory } = input
  if (Object.keys(parts.import ?? {}).length === 0) return
  const file = bricksFile(project)
  const source = file === undefined ? '' : readFileSync(file, 'utf8')
  for (const needed of parts.needs ?? [])
    if (!source.includes(`'mortar/${needed}'`))
      terminal.note(`${name} needs the brick '${needed}': mortar add ${needed}`)
  const edit = addToBricks(source, parts)
  const place = shown(file ?? join(dirname(project.app), 'config/bricks.ts'), directory)
  if (edit.kind === 'present') return terminal.note(`${place} has ${name}.`)
  if (edit.kind === 'unknown')
    return terminal.print(
      [`Write into ${place}, or where createApp() is called:`, ...linesOf(parts)].join('\n'),
    )
  if (values['dry-run'] === true) terminal.print([`${place} would get:`, ...linesOf(parts)].join('\n'))
  else {
    writeFileSync(file!, edit.source)
    terminal.note(`Added ${name} to ${place}: ${parts.use}`)
  }
}

/** The list of bricks of a scaffolded application. */
function bricksFile({ app, root }: Project): string | undefined {
  return [join(dirname(app), 'config/bricks.ts'), join(root, 'config/bricks.ts')].find((file) =>
    existsSync(file),
  )
}
