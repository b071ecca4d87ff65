import type { MigrationInterface, QueryRunner } from 'typeorm'

export class Init1795424465919 implements MigrationInterface {
  readonly name = 'Init1795424465919'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE \`greetings\` (\`id\` varchar(36) NOT NULL, \`name\` varchar(40) NOT NULL, \`text\` varchar(500) NOT NULL, \`created_at\` datetime(3) NOT NULL, INDEX \`IDX_02a15a73919c6e2bfa2856dfdc\` (\`created_at\`), PRIMARY KEY (\`id\`)) ENGINE=InnoDB`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX \`IDX_02a15a73919c6e2bfa2856dfdc\` ON \`greetings\``)
    await runner.query(`DROP TABLE \`greetings\``)
  }
}
