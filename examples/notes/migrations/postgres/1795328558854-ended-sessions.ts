import type { MigrationInterface, QueryRunner } from 'typeorm'

export class EndedSessions1795328558854 implements MigrationInterface {
  readonly name = 'EndedSessions1795328558854'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "auth_ended_sessions" ("id" character varying(36) NOT NULL, "ended_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "PK_b5c7ff4fb7320dfb1250baa74f3" PRIMARY KEY ("id"))`,
    )
    await runner.query(
      `CREATE INDEX "IDX_273d87a4416aa17d3672154aa4" ON "auth_ended_sessions"  ("ended_at") `,
    )
    await runner.query(
      `CREATE INDEX "IDX_de4a0c96606d419b9044c61adf" ON "auth_ended_sessions"  ("expires_at") `,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."IDX_de4a0c96606d419b9044c61adf"`)
    await runner.query(`DROP INDEX "public"."IDX_273d87a4416aa17d3672154aa4"`)
    await runner.query(`DROP TABLE "auth_ended_sessions"`)
  }
}
