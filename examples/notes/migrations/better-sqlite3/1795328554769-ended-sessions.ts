import type { MigrationInterface, QueryRunner } from 'typeorm'

export class EndedSessions1795328554769 implements MigrationInterface {
  readonly name = 'EndedSessions1795328554769'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "auth_ended_sessions" ("id" varchar(36) PRIMARY KEY NOT NULL, "ended_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(`CREATE INDEX "IDX_273d87a4416aa17d3672154aa4" ON "auth_ended_sessions" ("ended_at") `)
    await runner.query(
      `CREATE INDEX "IDX_de4a0c96606d419b9044c61adf" ON "auth_ended_sessions" ("expires_at") `,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "IDX_de4a0c96606d419b9044c61adf"`)
    await runner.query(`DROP INDEX "IDX_273d87a4416aa17d3672154aa4"`)
    await runner.query(`DROP TABLE "auth_ended_sessions"`)
  }
}
