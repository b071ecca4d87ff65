import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { ROOT } from '../architecture/tree.ts'
import { builtFramework } from '../support/built-framework.ts'
import type { Ran } from './command-host.ts'
import { createProject, type TestProject } from './project.ts'

const INSTALLED = ['mortar', '@mortar/database']

/** Some of the built packages with their dependencies, and without any optional package. */
function bareFramework(): string {
  const directory = join(realpathSync(mkdtempSync(join(tmpdir(), 'mortar-bare-'))), 'node_modules')
  for (const name of INSTALLED) {
    cpSync(join(builtFramework(), name), join(directory, name), { recursive: true })
    const { dependencies } = JSON.parse(readFileSync(join(directory, name, 'package.json'), 'utf8')) as {
      dependencies: object
    }
    for (const dependency of Object.keys(dependencies)) {
      const link = join(directory, name, 'node_modules', dependency)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(join(ROOT, 'node_modules', dependency), link)
    }
  }
  return directory
}

describe('A package that the application imports and that is not installed', function () {
  let project: TestProject
  let framework: string
  before(() => void (framework = bareFramework()))
  after(() => rmSync(dirname(framework), { recursive: true }))
  afterEach(() => project.remove())

  const create = (files: Readonly<Record<string, string>>): void => {
    project = createProject(files, framework)
    for (const name of ['mortar', '@mortar', 'typeorm', 'better-sqlite3'])
      rmSync(join(project.directory, 'node_modules', name), { force: true })
    for (const name of ['mortar', '@mortar'])
      symlinkSync(join(framework, name), join(project.directory, 'node_modules', name))
  }

  it('is named once with its importer and the command, beside all others', () => {
    create({
      'app.ts': `import { createApp } from 'mortar'\nimport { User } from './schema.ts'\nexport const app = createApp()\nexport { User }\n`,
      'schema.ts': `import { EntitySchema } from 'typeorm'\nexport const User = new EntitySchema({ name: 'u', columns: {} })\n`,
      'routes/x.get.ts': `import { z } from 'acme-zod'\nexport default () => z\n`,
      'routes/y.get.ts': `import { z } from 'acme-zod'\nimport type { T } from 'acme-types'\nexport default (): T => z\n`,
    })
    const { code, err } = project.mortar(['routes'])
    expect(code, err).to.equal(1)
    expect(err).to.include(`${join(project.directory, 'schema.ts')} imports typeorm`)
    expect(err, err).to.match(/Run npm install acme-zod typeorm \[MORTAR_PEER_MISSING\]/)
    expect(err.match(/imports acme-zod/g)).to.have.length(1)
    expect(err).not.to.match(/acme-types|\n\s+at /)
    project.write({ 'pnpm-lock.yaml': '' })
    expect(project.mortar(['routes']).err).to.include('Run pnpm add acme-zod typeorm [MORTAR_PEER_MISSING]')
  })

  it('is one problem when only routes import it', () => {
    const source = `import { z } from 'acme-zod'\nexport default () => z\n`
    create({ 'routes/x.get.ts': source, 'routes/y.get.ts': source })
    const { err } = project.mortar(['routes'])
    expect(err.match(/Run npm install acme-zod \[/g), err).to.have.length(1)
    expect(err).not.to.include('MORTAR_ROUTE_IMPORT')
  })

  const remedyOf = ({ code, err }: Ran): string => {
    expect(code, err).to.equal(1)
    return /Run npm install (.*) \[MORTAR_PEER_MISSING\]/.exec(err)?.[1] ?? err
  }

  it('is named if it is the driver of a brick, with those of routes that are not imported yet', async () => {
    create({
      'app.ts': `import { createApp } from 'mortar'
import { database } from '@mortar/database'
export const app = createApp().use(database({ type: 'postgres', url: 'postgres://localhost/x' }))
`,
    })
    expect(remedyOf(project.mortar(['routes']))).to.match(/^pg@/)
    project.write({ 'yarn.lock': '', 'routes/x.post.ts': `import 'acme-zod'\nexport default () => 1\n` })
    const dev = project.serve(['dev'], { variables: { PORT: '0' } })
    await dev.output.until(/The next change/)
    await dev.stop()
    expect(dev.output.text()).to.match(/Run yarn add acme-zod pg@\S+ \[/)
  })

  it('has the version of the framework if it is a brick of it', () => {
    create({
      'app.ts': `import { createApp } from 'mortar'
import { mail } from '@mortar/mail'
export const app = createApp().use(mail({ from: 'a@example.com' }))
`,
      'routes/x.post.ts': `import { z } from 'acme-zod'\nexport default () => z\n`,
    })
    expect(remedyOf(project.mortar(['routes']))).to.match(/^@mortar\/mail@\d+\.\d+\.\d+ acme-zod\b/)
  })
})
