import { existsSync, readFileSync } from 'node:fs'
import { findPackageJSON } from './find-package.ts'
import { type Finding, finding } from './finding.ts'
import type { Project } from '../project/project.ts'

/** Packages of which an application and the framework have to have the same: their objects are passed around. */
const SHARED = ['yup', 'typeorm', 'koa', 'better-sqlite3', 'awilix', 'nodemailer']

interface Manifest {
  readonly version?: string
  readonly type?: string
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Node, the packages that are named and not installed, and those that are there in another version. */
export function checkInstallation({ root, manifest }: Project, node = process.versions.node): Finding[] {
  const own = readOwn()
  const { type, dependencies = {}, devDependencies = {} } = manifest as Manifest
  const installed = Object.keys({ ...dependencies, ...devDependencies })
  return [
    ...checkNode(node, own.engines?.node ?? ''),
    ...(type === 'module' ? [] : [notModule()]),
    ...installed.filter((name) => findPackageJSON(name, root) === undefined).map(notInstalled),
    ...SHARED.flatMap((name) => checkPeer(name, root, own.dependencies?.[name])),
  ]
}

function checkNode(present: string, range: string): Finding[] {
  const wanted = /\d+(\.\d+)*/.exec(range)?.[0]
  if (wanted === undefined || compare(present, wanted) >= 0) return []
  return [
    finding(
      'error',
      'MORTAR_DOCTOR_NODE',
      `Node is ${present}, and the framework needs ${range}.`,
      'Install a newer one; the newest long-term version is best.',
    ),
  ]
}

function checkPeer(name: string, root: string, wanted: string | undefined): Finding[] {
  const file = findPackageJSON(name, root)
  if (file === undefined || wanted === undefined) return []
  const { version = '' } = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  if (version.split('.')[0] === wanted.replace(/^\D+/, '').split('.')[0]) return []
  return [
    finding(
      'warning',
      'MORTAR_DOCTOR_PEER',
      `The application has ${name} ${version}, and the framework works with ${wanted}.`,
      `Install the same: npm install ${name}@${wanted}`,
    ),
  ]
}

function notInstalled(name: string): Finding {
  return finding(
    'error',
    'MORTAR_DOCTOR_INSTALL',
    `package.json names ${name}, which is not installed.`,
    'Run npm install.',
  )
}

function notModule(): Finding {
  return finding(
    'error',
    'MORTAR_DOCTOR_MODULE',
    'package.json does not say that the files are ES modules.',
    'Add "type": "module" to it.',
  )
}

/** By numbers: 20.9 is older than 20.19. */
function compare(a: string, b: string): number {
  const [first, second] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]]
  for (let index = 0; index < second.length; index++)
    if (first[index] !== second[index]) return (first[index] ?? 0) - (second[index] ?? 0)
  return 0
}

/** The framework's own package.json, beside which this file is built or not. */
function readOwn(): Manifest {
  const files = ['../../../../package.json', '../../../package.json'].map(
    (path) => new URL(path, import.meta.url),
  )
  const file = files[import.meta.filename.endsWith('.js') ? 0 : 1]!
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : {}
}
