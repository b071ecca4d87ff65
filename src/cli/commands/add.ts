import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { addFiles } from '../add/add-files.ts'
import { addToBricks, linesOf } from '../add/edit-bricks.ts'
import { appendVariables } from '../add/env-example.ts'
import { allowScripts, runInstallation } from '../add/install.ts'
import { type Addition, isInstalled, planAddition } from '../add/plan-addition.ts'
import { type PackageTarget, readRecipe, readTarget, type RecipeSource } from '../add/recipe-source.ts'
import { findPackageManager, installation } from '../../peers/package-manager.ts'
import type { Command, CommandInput, CommandOptions } from '../command.ts'
import { recipeBook } from '../recipe-book.ts'
import { replaceFile } from '../replace-file.ts'
import { findProject, isFile, PROJECT_OPTIONS, type Project, shown } from '../project/project.ts'

/** Makes a brick part of an application: installs its packages and adds it to config/bricks.ts. */
export const add: Command = {
  name: 'add',
  summary: 'Install the packages of a brick and add it to config/bricks.ts',
  usage: 'add BRICK|PACKAGE [--driver NAME] [--provider NAME] [--dry-run]',
  names: true,
  options: {
    app: PROJECT_OPTIONS.app,
    ...variantOptions(),
    variant: { type: 'string', help: "of a brick in another package: the package's README has the names" },
    'dry-run': { type: 'boolean', help: 'print what would be done, and change nothing' },
  },
  async run(input) {
    const project = findProject(input)
    const target = readTarget(input.positionals)
    const source = 'recipe' in target ? target : await readInstalled(target, project, input)
    if (source === undefined) return 0
    const addition = planAddition(input, source, project)
    await installPackages(addition, project, input)
    // First, because a brick that is registered counts as added if the command is repeated.
    addVariables(addition, project, input)
    const needed = neededBy(addition, project)
    const registered = registerBrick(addition, project, input)
    const isUsable = registered === 'added' && needed.length === 0
    const files = registered === 'present' ? [] : await addFiles(addition, project, { input, isUsable })
    // Without the bricks that it needs the application does not start, and no migration can be generated.
    const steps = [...needed, ...files]
    if (steps.length > 0) input.terminal.note(['Next:', ...steps].join('\n  '))
    return 0
  },
}

/** One option for each recipe that has variants: `--driver`, `--provider`. */
function variantOptions(): CommandOptions {
  const options = Object.entries(recipeBook().bricks).flatMap(([name, { recipe }]) => {
    const { option, variants = {}, default: usual } = recipe
    if (option === undefined) return []
    const names = Object.keys(variants).map((each) => (each === usual ? `${each} (the default)` : each))
    const help = `of ${name}: ${names.join(', ').replace(/, ([^,]+)$/, ' or $1')}`
    return [[option, { type: 'string', help }] as const]
  })
  return Object.fromEntries(options)
}

/** Installs the package of somebody else's brick and reads its recipe; undefined for a dry run without the package. */
async function readInstalled(
  target: PackageTarget,
  project: Project,
  input: CommandInput,
): Promise<RecipeSource | undefined> {
  const { name, specifier } = target
  if (specifier !== name || !isInstalled(name, project)) {
    const installations = [{ packages: [specifier], development: false }]
    await installPackages({ name, installations }, project, input)
    if (input.values['dry-run'] === true) {
      input.terminal.note(`The recipe of ${name} can be read when it is installed.`)
      return undefined
    }
  }
  return readRecipe(target, project.root)
}

async function installPackages(
  { name, installations }: Pick<Addition, 'name' | 'installations'>,
  { root }: Project,
  { values, terminal }: CommandInput,
): Promise<void> {
  if (installations.length === 0) return terminal.note(`The packages of ${name} are installed.`)
  const manager = findPackageManager(root)
  for (const each of installations) {
    const command = installation(manager, each)
    terminal.note(command.join(' '))
    if (values['dry-run'] === true) continue
    if (manager === 'npm') allowScripts(each.scripts ?? [], root)
    await runInstallation(command, root, 'repeat this command')
  }
}

/** The steps for the bricks that a brick needs and that the application does not have. */
function neededBy({ name, parts }: Addition, project: Project): string[] {
  const file = bricksFile(project)
  const listed = file === undefined ? [] : readFileSync(file, 'utf8').split(/['"]/)
  return (parts.needs ?? [])
    .filter((each) => !listed.includes(`@mortar/${each}`))
    .map((each) => `${name} needs the brick '${each}': npx mortar add ${each}`)
}

/** `present`: the application had the brick before. `added`: it has the brick now. */
type Registered = 'present' | 'added' | 'incomplete'

function registerBrick({ name, parts }: Addition, project: Project, input: CommandInput): Registered {
  const { terminal, values, directory } = input
  if (Object.keys(parts.import ?? {}).length === 0) return 'incomplete'
  const file = bricksFile(project)
  const source = file === undefined ? '' : readFileSync(file, 'utf8')
  const edit = addToBricks(source, parts)
  const place = shown(file ?? join(dirname(project.app), 'config/bricks.ts'), directory)
  if (edit.kind === 'present') terminal.note(`${place} has ${name}.`)
  else if (edit.kind === 'other')
    terminal.print([`Change the brick in ${place}:`, ...linesOf(parts)].join('\n'))
  else if (edit.kind === 'unknown')
    terminal.print([`Write into ${place}, or where createApp() is called:`, ...linesOf(parts)].join('\n'))
  else if (values['dry-run'] === true) terminal.print([`${place} would get:`, ...linesOf(parts)].join('\n'))
  else {
    replaceFile(file!, edit.source)
    terminal.note(`Added ${name} to ${place}.`)
    return 'added'
  }
  return edit.kind === 'present' ? 'present' : 'incomplete'
}

/** Appends the environment variables of the brick to `.env.example`, which an application may not have yet. */
function addVariables({ parts }: Addition, { root, manifest }: Project, input: CommandInput): void {
  const file = join(root, '.env.example')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const { name } = manifest
  const text = appendVariables(before, parts, typeof name === 'string' ? name : 'app')
  if (text === before) return
  const place = shown(file, input.directory)
  if (input.values['dry-run'] === true)
    return input.terminal.print(`${place} would get:${text.slice(before.trimEnd().length).trimEnd()}`)
  replaceFile(file, text)
  input.terminal.note(`Added variables to ${place}.`)
}

/** The list of bricks of a scaffolded application. */
function bricksFile({ app, root }: Project): string | undefined {
  return [dirname(app), root].map((folder) => join(folder, 'config/bricks.ts')).find(isFile)
}
