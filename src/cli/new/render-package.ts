import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Choices } from './choices.ts'

/** What is read of this package's own package.json, which pins every version. */
interface Manifest {
  readonly version: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
}

const DEVELOPMENT = ['@types/mocha', '@types/node', 'mocha', 'tsx', 'typescript'] as const

/**
 * package.json of a new application. What the application imports besides the framework has the very version that the
 * framework has, so that there is one copy of it.
 */
export async function renderPackage({ name, database, mortar }: Choices): Promise<string> {
  const own = await readManifest()
  const hasDatabase = database !== 'none'
  const manifest = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: own.engines,
    scripts: {
      dev: 'mortar dev',
      build: 'mortar build',
      start: 'mortar start',
      test: 'mocha',
      check: 'tsc --noEmit',
      ...(hasDatabase ? { migrate: 'mortar migrate' } : {}),
    },
    dependencies: {
      mortar: mortar ?? own.version,
      ...(database === 'postgres' ? { pg: own.devDependencies['pg'] } : {}),
      ...(hasDatabase ? { typeorm: own.dependencies['typeorm'] } : {}),
      yup: own.dependencies['yup'],
    },
    devDependencies: Object.fromEntries(DEVELOPMENT.map((tool) => [tool, own.devDependencies[tool]])),
    // Native parts: newer versions of npm compile or fetch only those that are named here.
    allowScripts: own.allowScripts,
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** This file is three folders below the repository, and four below the package, where `dist` is in between. */
async function readManifest(): Promise<Manifest> {
  const up = import.meta.filename.endsWith('.ts') ? '../../..' : '../../../..'
  return JSON.parse(await readFile(join(import.meta.dirname, up, 'package.json'), 'utf8')) as Manifest
}
