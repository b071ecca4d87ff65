import { fault } from '../startup-codes.ts'

/** One statement of a migration. */
export interface Statement {
  readonly query: string
  readonly parameters?: readonly unknown[] | undefined
}

/** The two directions of a migration, each in the order of execution. */
export interface MigrationStatements {
  readonly up: readonly Statement[]
  readonly down: readonly Statement[]
}

/** Returns the class and file name of a migration at a timestamp in milliseconds. */
export type MigrationNames = (timestamp: number) => { readonly className: string; readonly fileName: string }

/**
 * Checks the name of a migration: `add tags` at 1763650000000 is `AddTags1763650000000` in `1763650000000-add-tags.ts`.
 * @throws StartupError for a name that is not words of letters and digits, or has more than 150 characters.
 */
export function nameMigration(name: string): MigrationNames {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .filter(Boolean)
  // A file system allows 255 bytes for the name of a file, and the table of migrations 255 characters.
  if (
    name.length > 150 ||
    !/^[a-z]/i.test(words[0] ?? '') ||
    !words.every((word) => /^[a-z\d]+$/i.test(word))
  )
    throw fault('MORTAR_MIGRATION_NAME', `'${name}' is not a valid name for a migration.`, {
      remedy: `Describe the change in few words of letters and digits, such as 'add tags to notes'.`,
    })
  const className = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  const fileName = `${words.join('-').toLowerCase()}.ts`
  return (timestamp) => ({ className: className + timestamp, fileName: `${timestamp}-${fileName}` })
}

/** Renders a migration file in erasable TypeScript. */
export function renderMigration(className: string, { up, down }: MigrationStatements): string {
  return `import type { MigrationInterface, QueryRunner } from 'typeorm'

export class ${className} implements MigrationInterface {
  readonly name = '${className}'

  async up(runner: QueryRunner): Promise<void> {
${up.map(renderStatement).join('\n')}
  }

  async down(runner: QueryRunner): Promise<void> {
${down.map(renderStatement).join('\n')}
  }
}
`
}

function renderStatement({ query, parameters }: Statement): string {
  const values = parameters && parameters.length > 0 ? `, ${JSON.stringify(parameters)}` : ''
  return `    await runner.query(\`${escapeTemplate(query)}\`${values})`
}

/** Escapes names and defaults of the schema, which may contain characters with a meaning in a template literal. */
function escapeTemplate(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')
}

/**
 * Adds pragmas around statements that rebuild tables, so that foreign keys of other tables stay valid. To undo a
 * rebuild on SQLite, TypeORM renames the table and drops it later. By default SQLite would change the foreign keys to
 * the new name, which then no longer exists (sqlite.org/lang_altertable.html, compatibility note).
 */
export function keepReferences(statements: readonly Statement[]): readonly Statement[] {
  if (!statements.some(({ query }) => query.includes(' RENAME TO "temporary_'))) return statements
  return [
    { query: 'PRAGMA legacy_alter_table = ON' },
    ...statements,
    { query: 'PRAGMA legacy_alter_table = OFF' },
  ]
}
