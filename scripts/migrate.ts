import { parseArgs } from 'node:util'
import { loadEnvFiles } from 'mortar'
import { createDataSource, createMigrations, openDataSource } from 'mortar/database'
import { ensureSecret } from './ensure-secret.ts'

/*
 * The migrations of the reference application:
 * `npm run migrate -- status`, `run`, `revert`, or `generate AddTags`.
 */
const { positionals } = parseArgs({ allowPositionals: true })
const [command = 'status', name = ''] = positionals

ensureSecret(process.cwd())
loadEnvFiles(process.cwd())
const { databaseOptions } = await import('../config/database.ts')
const { migrate: _runAtStart, migrations: directory, ...connection } = databaseOptions
const dataSource = createDataSource(connection)
await openDataSource(dataSource)
try {
  const lines = await run(command, createMigrations(dataSource, { directory }))
  process.stdout.write(`${lines.join('\n')}\n`)
} finally {
  await dataSource.destroy()
}

async function run(
  verb: string,
  migrations: ReturnType<typeof createMigrations>,
): Promise<readonly string[]> {
  switch (verb) {
    case 'status':
      return (await migrations.status()).map((migration) => `${migration.state.padEnd(8)} ${migration.name}`)
    case 'run': {
      const names = await migrations.run()
      return names.length === 0 ? ['Nothing is pending.'] : names.map((applied) => `applied  ${applied}`)
    }
    case 'revert': {
      const reverted = await migrations.revert()
      return [reverted === undefined ? 'Nothing was applied.' : `reverted ${reverted}`]
    }
    case 'generate': {
      if (name === '') throw new Error('Give the migration a name: npm run migrate -- generate AddTags')
      const written = await migrations.generate(name)
      return [written === undefined ? 'The database matches the schema already.' : `wrote    ${written.file}`]
    }
    default:
      throw new Error(`'${verb}' is no command: use status, run, revert or generate <Name>.`)
  }
}
