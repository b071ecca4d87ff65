import type { MigrationInterface, QueryRunner } from 'typeorm'

export class Init1795421234835 implements MigrationInterface {
  readonly name = 'Init1795421234835'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "auth_ended_sessions" ("id" varchar(36) PRIMARY KEY NOT NULL, "ended_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(`CREATE INDEX "IDX_273d87a4416aa17d3672154aa4" ON "auth_ended_sessions" ("ended_at") `)
    await runner.query(
      `CREATE INDEX "IDX_de4a0c96606d419b9044c61adf" ON "auth_ended_sessions" ("expires_at") `,
    )
    await runner.query(
      `CREATE TABLE "auth_refresh_tokens" ("id" varchar(36) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "password_version" integer NOT NULL, "family_hash" varchar(64) NOT NULL, "token_hash" varchar(64) NOT NULL, "previous_hash" varchar(64), "created_at" bigint NOT NULL, "rotated_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "UQ_92dd28fb7e9b33e544fcb70b285" UNIQUE ("family_hash"), CONSTRAINT "FK_f795ad14f31838e3ddc663ee150" FOREIGN KEY ("user_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `CREATE TABLE "auth_reset_tokens" ("token_hash" varchar(64) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "password_version" integer, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "FK_ebdac3f574efe48a8c8332d6d31" FOREIGN KEY ("user_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `CREATE TABLE "auth_users" ("id" varchar(36) PRIMARY KEY NOT NULL, "name" varchar(200) NOT NULL, "email" varchar(254) NOT NULL, "password_hash" varchar(255), "password_version" integer NOT NULL DEFAULT (0), "kept_session_id" varchar(36), "email_verified_at" datetime(3), "disabled_at" datetime(3), "created_at" datetime(3) NOT NULL, "updated_at" datetime(3) NOT NULL, "role" varchar(20) NOT NULL DEFAULT ('user'), CONSTRAINT "UQ_13d8b49e55a8b06bee6bbc828fb" UNIQUE ("email"))`,
    )
    await runner.query(
      `CREATE TABLE "notes" ("id" varchar(36) PRIMARY KEY NOT NULL, "owner_id" varchar(255) NOT NULL, "title" varchar(200) NOT NULL, "text" text NOT NULL, "archived" boolean NOT NULL DEFAULT (0), "created_at" datetime(3) NOT NULL, "updated_at" datetime(3) NOT NULL)`,
    )
    await runner.query(
      `CREATE INDEX "IDX_4125a7ca2eddb46d792fd0e586" ON "notes" ("owner_id", "archived", "created_at", "id") `,
    )
    await runner.query(`CREATE INDEX "IDX_f795ad14f31838e3ddc663ee15" ON "auth_refresh_tokens" ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_ece598cfc600e3338004a9efff" ON "auth_refresh_tokens" ("expires_at") `,
    )
    await runner.query(`CREATE INDEX "IDX_ebdac3f574efe48a8c8332d6d3" ON "auth_reset_tokens" ("user_id") `)
    await runner.query(`CREATE INDEX "IDX_5086c93f2ea6169e253b004680" ON "auth_reset_tokens" ("expires_at") `)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "IDX_5086c93f2ea6169e253b004680"`)
    await runner.query(`DROP INDEX "IDX_ebdac3f574efe48a8c8332d6d3"`)
    await runner.query(`DROP INDEX "IDX_ece598cfc600e3338004a9efff"`)
    await runner.query(`DROP INDEX "IDX_f795ad14f31838e3ddc663ee15"`)
    await runner.query(`DROP INDEX "IDX_4125a7ca2eddb46d792fd0e586"`)
    await runner.query(`DROP TABLE "notes"`)
    await runner.query(`DROP TABLE "auth_users"`)
    await runner.query(`DROP TABLE "auth_reset_tokens"`)
    await runner.query(`DROP TABLE "auth_refresh_tokens"`)
    await runner.query(`DROP INDEX "IDX_de4a0c96606d419b9044c61adf"`)
    await runner.query(`DROP INDEX "IDX_273d87a4416aa17d3672154aa4"`)
    await runner.query(`DROP TABLE "auth_ended_sessions"`)
  }
}
