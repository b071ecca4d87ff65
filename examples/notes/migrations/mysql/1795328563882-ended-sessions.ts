import type { MigrationInterface, QueryRunner } from 'typeorm'

export class EndedSessions1795328563882 implements MigrationInterface {
  readonly name = 'EndedSessions1795328563882'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE \`auth_ended_sessions\` (\`id\` varchar(36) NOT NULL, \`ended_at\` bigint NOT NULL, \`expires_at\` bigint NOT NULL, INDEX \`IDX_273d87a4416aa17d3672154aa4\` (\`ended_at\`), INDEX \`IDX_de4a0c96606d419b9044c61adf\` (\`expires_at\`), PRIMARY KEY (\`id\`)) ENGINE=InnoDB`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX \`IDX_de4a0c96606d419b9044c61adf\` ON \`auth_ended_sessions\``)
    await runner.query(`DROP INDEX \`IDX_273d87a4416aa17d3672154aa4\` ON \`auth_ended_sessions\``)
    await runner.query(`DROP TABLE \`auth_ended_sessions\``)
  }
}
