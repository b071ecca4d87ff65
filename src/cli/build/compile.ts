import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { manifestPath, MANIFEST_FOLDER } from '../../files/manifest.ts'
import { installCommand } from '../../peers/package-manager.ts'
import { makeFolder } from '../../support/make-folder.ts'
import { type Project, shown } from '../project/project.ts'

/**
 * Type-checks and compiles the application: its entry modules, the manifest, everything that they import, and the files
 * of the folders that bricks read: `migrations`, `jobs`, `mail` and `channels`.
 * @returns the compiler's messages if it fails; then nothing is written.
 */
export async function compile(project: Project, out: string): Promise<{ ok: boolean; report: string }> {
  const compiler = findCompiler(project.root)
  const config = join(project.root, MANIFEST_FOLDER, 'tsconfig.build.json')
  makeFolder(dirname(config))
  await writeFile(join(dirname(config), '.gitignore'), '*\n')
  await writeFile(config, `${JSON.stringify(compilerConfig(project, out), null, 2)}\n`)
  return new Promise((resolve) => {
    const args = [compiler, '-p', config, '--pretty', 'false']
    const options = { cwd: project.root, maxBuffer: 1e8 }
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const report = `${stdout}${stderr}`.trim()
      if (error === null) makeFolders(project, out)
      resolve({ ok: error === null, report: [report, ...remediesFor(report)].join('\n') })
    })
  })
}

/** Folders that bricks read at the start, beside the module of the application. */
function brickFolders({ app, root }: Project): string[] {
  return ['migrations', 'jobs', 'mail', 'channels'].map((name) => shown(join(dirname(app), name), root))
}

/** The compiler makes no folder for one without modules, but a brick reads it. */
function makeFolders(project: Project, out: string): void {
  for (const folder of brickFolders(project))
    if (existsSync(join(project.root, folder))) makeFolder(join(out, folder))
}

/** The application's own settings, changed so that plain Node can run the output. Paths are relative to the file. */
function compilerConfig(project: Project, out: string): object {
  const { root, app, server, routes } = project
  const config = join(root, 'tsconfig.json')
  const manifest = routes === undefined ? undefined : manifestPath(routes, '.ts')
  const entries = [app, server, manifest].filter((file) => file !== undefined)
  return {
    ...(existsSync(config) ? { extends: '../tsconfig.json' } : {}),
    compilerOptions: {
      ...(existsSync(config) ? {} : DEFAULTS),
      noEmit: false,
      noEmitOnError: true,
      emitDeclarationOnly: false,
      declaration: false,
      declarationMap: false,
      composite: false,
      incremental: false,
      sourceMap: false,
      inlineSourceMap: false,
      removeComments: false,
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: true,
      customConditions: [],
      rootDir: '..',
      outDir: `../${shown(out, root)}`,
    },
    files: entries.map((file) => `../${shown(file, root)}`),
    include: brickFolders(project).map((folder) => `../${folder}/**/*.ts`),
    exclude: ['../node_modules', '../**/*.test.ts'],
  }
}

/** Explains errors that come from the settings of the build, which the application does not have. */
function remediesFor(report: string): string[] {
  return REMEDIES.flatMap(([code, remedy]) => (report.includes(`error ${code}:`) ? [remedy] : []))
}

const REMEDIES: readonly (readonly [code: string, remedy: string])[] = [
  [
    'TS2877',
    'A subpath import cannot have the extension .ts in a build: write "imports": { "#lib/*": "./lib/*.ts" } in package.json and import \'#lib/name\'.',
  ],
  [
    'TS6059',
    'A build covers the files below package.json: move the file there, or make it a package that is compiled to JavaScript.',
  ],
]

const DEFAULTS = {
  target: 'ES2022',
  module: 'NodeNext',
  moduleResolution: 'NodeNext',
  strict: true,
  skipLibCheck: true,
}

/** Returns the path of the compiler that the application has installed. */
function findCompiler(root: string): string {
  const require = createRequire(join(root, 'package.json'))
  try {
    return join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  } catch (cause) {
    throw new StartupError(
      'TypeScript is not installed, so the application cannot be checked and compiled.',
      {
        code: 'MORTAR_BUILD_TYPESCRIPT',
        remedy: `Install it: ${installCommand([{ name: 'typescript', development: true }])}`,
        cause,
      },
    )
  }
}
