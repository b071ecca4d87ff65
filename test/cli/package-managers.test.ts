import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect } from 'chai'
import {
  buildRemedy,
  findPackageManager,
  installation,
  installCommand,
  oneCopyRemedy,
} from '../../src/peers/package-manager.ts'
import { createProject, type TestProject } from './project.ts'

/** Per manager: words of the files of a new application, and the files that only it needs. */
const MANAGERS = {
  npm: {
    readme: ['npm install\nnpm run dev', '`npm test`', 'npm run migrate -- run', 'npx mortar routes'],
    docker: ['COPY package.json package-lock.json ./', 'RUN npm ci', 'npm prune --omit=dev'],
    ci: ['cache: npm', 'run: npm ci', 'run: npm run check', 'run: npm test'],
    files: [],
  },
  pnpm: {
    readme: ['pnpm install\npnpm dev', '`pnpm test`', 'pnpm migrate run', 'pnpm mortar routes'],
    docker: [
      'RUN npm install --global pnpm@',
      'COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./',
      'RUN pnpm install --frozen-lockfile',
      'pnpm prune --prod',
    ],
    ci: [
      'uses: pnpm/action-setup@v4',
      'cache: pnpm',
      'run: pnpm install --frozen-lockfile',
      'run: pnpm check',
    ],
    files: ['pnpm-workspace.yaml'],
  },
  yarn: {
    readme: ['yarn install\nyarn dev', '`yarn test`', 'yarn migrate run', 'yarn mortar routes'],
    docker: [
      'RUN npm install --global @yarnpkg/cli-dist@',
      'COPY package.json yarn.lock .yarnrc.yml ./',
      'RUN yarn install --immutable',
      'yarn workspaces focus --all --production',
    ],
    ci: ['run: corepack enable', 'cache: yarn', 'run: yarn install --immutable', 'run: yarn check'],
    files: ['.yarnrc.yml'],
  },
  bun: {
    readme: ['bun install\nbun run dev', '`bun run test`', 'bun run migrate run', 'bunx mortar routes'],
    docker: [
      'RUN npm install --global bun@',
      'COPY package.json bun.lock ./',
      'RUN bun install --frozen-lockfile',
      'bun install --production',
    ],
    ci: ['uses: oven-sh/setup-bun@v2', 'run: bun install --frozen-lockfile', 'run: bun run check'],
    files: [],
  },
} as const

describe('mortar new --package-manager', function () {
  this.timeout(240_000)
  let project: TestProject
  before(() => void (project = createProject({})))
  after(() => project.remove())

  const read = (path: string) => readFileSync(join(project.directory, path), 'utf8')
  const manifestOf = (name: string) =>
    JSON.parse(read(`${name}/package.json`)) as Readonly<Record<string, unknown>>

  for (const [manager, { readme, docker, ci, files }] of Object.entries(MANAGERS))
    it(`writes the commands and settings of ${manager}`, () => {
      const name = `with-${manager}`
      const made = project.mortar(['new', name, '--package-manager', manager, '--no-install'])
      expect(made.code, made.err).to.equal(0)
      expect(made.out).to.include(readme[0].replace('\n', '\n  '))
      expect(read(`${name}/README.md`)).to.include(readme[0])
      for (const words of readme) expect(read(`${name}/README.md`)).to.include(words)
      for (const words of docker) expect(read(`${name}/Dockerfile`)).to.include(words)
      // `.bin` has shell scripts with pnpm.
      expect(read(`${name}/Dockerfile`)).to.include('"node_modules/mortar/dist/cli/main.js", "start"')
      for (const words of ci) expect(read(`${name}/.github/workflows/ci.yml`)).to.include(words)
      expect(readdirSync(join(project.directory, name))).to.include.members(files)
      for (const other of ['pnpm-workspace.yaml', '.yarnrc.yml'])
        if (!(files as readonly string[]).includes(other))
          expect(existsSync(join(project.directory, name, other)), other).to.equal(false)
      if (manager !== 'npm')
        for (const path of ['README.md', 'AGENTS.md', 'Dockerfile', 'schema.ts', '.github/workflows/ci.yml'])
          expect(read(`${name}/${path}`), path).not.to.match(/\b(?:npm (?:run|ci|start|test)|npx)\b/)
    })

  it('uses the manager that runs it, unless another one is named, and npm in place of an unknown manager', () => {
    const made = (name: string, agent: string, ...args: readonly string[]) => {
      const ran = project.mortar(['new', name, '--no-install', ...args], {
        variables: { npm_config_user_agent: agent },
      })
      expect(ran.code, ran.err).to.equal(0)
      return manifestOf(name)['packageManager']
    }
    expect(made('run-by-pnpm', 'pnpm/11.2.0 npm/? node/v24.3.0 linux x64')).to.match(/^pnpm@/)
    expect(made('chosen', 'pnpm/11.2.0 npm/? node/v24.3.0 linux x64', '--package-manager', 'bun')).to.match(
      /^bun@/,
    )
    expect(made('run-by-deno', 'deno/2.1.0 npm/? deno/2.1.0 linux x64')).to.equal(undefined)
  })

  it('allows the install scripts of packages with a compiled part, and names the manager', () => {
    expect(manifestOf('with-npm')).to.have.property('allowScripts')
    expect(manifestOf('with-npm')).not.to.have.property('packageManager')
    expect(manifestOf('with-bun')['trustedDependencies']).to.include.members(['better-sqlite3', 'argon2'])
    expect(read('with-pnpm/pnpm-workspace.yaml')).to.match(/^ {2}better-sqlite3: true$/m)
    expect(manifestOf('with-yarn')['dependenciesMeta']).to.have.nested.property('better-sqlite3.built', true)
    expect(read('with-yarn/.yarnrc.yml')).to.match(/^nodeLinker: node-modules$/m)
    for (const manager of ['pnpm', 'yarn', 'bun'])
      expect(manifestOf(`with-${manager}`)['packageManager']).to.match(
        new RegExp(`^${manager}@\\d+\\.\\d+\\.\\d+$`),
      )
  })

  it('writes the version of an installed manager, runs it, and names it if it fails', () => {
    const programs = join(project.directory, 'programs')
    mkdirSync(programs)
    const pnpm = join(programs, 'pnpm')
    writeFileSync(
      pnpm,
      `#!/bin/sh\nif [ "$1" = --version ]; then echo 12.99.1; else echo "ran $*" >&2; exit 3; fi\n`,
    )
    chmodSync(pnpm, 0o755)
    const PATH = [programs, process.env['PATH']].join(delimiter)
    const made = project.mortar(['new', 'failing', '--package-manager', 'pnpm'], {
      variables: { PATH },
      alone: true,
    })
    expect(made.code).to.equal(1)
    expect(made.err).to.include('ran install\n')
    expect(made.err).to.include('pnpm could not install the packages').and.to.include('MORTAR_CLI_INSTALL')
    expect(manifestOf('failing')['packageManager']).to.equal('pnpm@12.99.1')
    expect(read('failing/Dockerfile')).to.include('pnpm@12.99.1')
  })
  it('asks for a manager that is not installed', () => {
    const made = project.mortar(['new', 'absent', '--package-manager', 'pnpm'], {
      variables: { PATH: dirname(process.execPath) + '-without' },
      alone: true,
    })
    expect(made.code).to.equal(1)
    expect(made.err).to.include('pnpm does not start (ENOENT).')
    expect(made.err).to.include('Check that pnpm is installed. Then run pnpm install in ')
    expect(made.err).not.to.include('reports above')
  })
})

describe('The package manager', function () {
  let project: TestProject
  before(() => void (project = createProject({})))
  after(() => project.remove())

  it('is named by package.json or the lockfile, the nearest first, else the one that runs, else npm', () => {
    const inner = join(project.directory, 'packages/app')
    mkdirSync(inner, { recursive: true })
    const found = () => findPackageManager(inner)
    const before = process.env['npm_config_user_agent']
    delete process.env['npm_config_user_agent']
    expect(found()).to.equal('npm')
    process.env['npm_config_user_agent'] = 'bun/1.4.5 npm/? node/v24.3.0 linux x64'
    expect(found()).to.equal('bun')
    process.env['npm_config_user_agent'] = before ?? ''
    project.write({ 'pnpm-lock.yaml': '' })
    expect(found()).to.equal('pnpm')
    project.write({ 'package.json': '{ "packageManager": "deno@2.1.0"' })
    expect(found()).to.equal('deno')
    project.write({ 'packages/app/package.json': '{ "packageManager": "yarn@4.9.0" }' })
    expect(found()).to.equal('yarn')
  })

  it('is the one of the commands in remedies', () => {
    const before = process.cwd()
    process.chdir(join(project.directory, 'packages/app'))
    try {
      expect(installCommand([{ name: 'pg', range: '^8.1.0' }])).to.equal('yarn add pg@^8.1.0')
      expect(installCommand([{ name: 'tsx', development: true }])).to.equal('yarn add --dev tsx')
      expect(buildRemedy('argon2')).to.include('"dependenciesMeta"').and.include('yarn rebuild argon2')
      expect(oneCopyRemedy('mortar')).to.equal(
        'Run yarn dedupe, so that there is one copy; yarn why mortar shows who installs the other',
      )
      project.write({ 'packages/app/package.json': '{ "packageManager": "bun@1.4.5" }' })
      expect(oneCopyRemedy('mortar')).to.equal(
        'Write one version of mortar into every package.json that names it, then run bun install',
      )
      project.write({ 'packages/app/package.json': '{ "packageManager": "npm@11.0.0" }' })
      expect(oneCopyRemedy('mortar')).to.include('npm dedupe').and.include('npm ls mortar')
    } finally {
      process.chdir(before)
    }
  })

  const request = { packages: ['better-sqlite3@^12.0.0'], development: true, scripts: ['better-sqlite3'] }
  const commands = {
    npm: 'npm install --save-dev better-sqlite3@^12.0.0',
    pnpm: 'pnpm add --save-dev --allow-build=better-sqlite3 better-sqlite3@^12.0.0',
    yarn: 'yarn add --dev better-sqlite3@^12.0.0',
    bun: 'bun add --dev --trust better-sqlite3@^12.0.0',
    deno: 'deno add --dev --allow-scripts=npm:better-sqlite3 npm:better-sqlite3@^12.0.0',
  } as const
  for (const [manager, command] of Object.entries(commands))
    it(`installs with ${manager}`, () => {
      expect(installation(manager as keyof typeof commands, request).join(' ')).to.equal(command)
    })
})
