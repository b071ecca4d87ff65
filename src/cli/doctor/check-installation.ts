import { readFileSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { findPackageManager, installCommand } from '../../peers/package-manager.ts'
import { satisfies } from '../../peers/satisfies.ts'
import { frameworkManifest } from '../framework-manifest.ts'
import { recipeBook } from '../recipe-book.ts'
import { findPackageJSON } from './find-package.ts'
import { type Finding, finding } from './finding.ts'
import type { Project } from '../project/project.ts'

/**
 * Dependencies that the application must have in the framework's major version, because both exchange their objects.
 */
const SHARED = ['yup', 'koa'] as const

interface Manifest {
  readonly version?: string
  readonly type?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Checks the version of Node, missing packages and packages in an unsupported version. */
export function checkInstallation({ root, manifest }: Project, node = process.versions.node): Finding[] {
  const own = frameworkManifest()
  const { type, dependencies = {}, devDependencies = {} } = manifest as Manifest
  const installed = Object.keys({ ...dependencies, ...devDependencies })
  return [
    ...checkNode(node, own.engines['node'] ?? ''),
    ...(type === 'module' ? [] : [notModule()]),
    ...installed.filter((name) => findPackageJSON(name, root) === undefined).map(notInstalled),
    ...SHARED.flatMap((name) => checkPeer(name, `^${own.dependencies[name]!.split('.')[0]}.0.0`, root)),
    ...checkBricks(root),
  ]
}

/** Checks the packages of each installed brick where the brick finds them: beside it may be another version for others. */
function checkBricks(root: string): Finding[] {
  const findings = Object.values(recipeBook().bricks).flatMap(({ package: own, ranges }) => {
    const file = own === undefined ? undefined : findPackageJSON(own, root)
    if (own !== undefined && file === undefined) return []
    const from = file === undefined ? root : dirname(realpathSync(file))
    return Object.entries(ranges).flatMap(([name, range]) => checkPeer(name, range, from, own))
  })
  return [...new Map(findings.map((each) => [each.found, each])).values()]
}

function checkNode(present: string, range: string): Finding[] {
  if (satisfies(present, range)) return []
  return [
    finding(
      'error',
      'MORTAR_DOCTOR_NODE',
      `This is Node ${present}, but the framework needs ${range}.`,
      'Install a newer version, preferably the newest long-term one.',
    ),
  ]
}

function checkPeer(name: string, wanted: string, from: string, user = 'the framework'): Finding[] {
  const file = findPackageJSON(name, from)
  if (file === undefined) return []
  const { version = '' } = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  if (satisfies(version, wanted)) return []
  return [
    finding(
      'warning',
      'MORTAR_DOCTOR_PEER',
      `The application has ${name} ${version}, but ${user} needs ${wanted}.`,
      `Install it: ${installCommand([{ name, range: wanted }])}`,
    ),
  ]
}

function notInstalled(name: string): Finding {
  return finding(
    'error',
    'MORTAR_DOCTOR_INSTALL',
    `package.json names ${name}, which is not installed.`,
    `Run ${findPackageManager(process.cwd())} install.`,
  )
}

function notModule(): Finding {
  return finding(
    'error',
    'MORTAR_DOCTOR_MODULE',
    'package.json does not mark the files as ES modules.',
    'Add "type": "module" to it.',
  )
}
