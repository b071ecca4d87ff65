import type { MigrationInterface, QueryRunner } from 'typeorm'

export class DisabledAccounts1795327273489 implements MigrationInterface {
  readonly name = 'DisabledAccounts1795327273489'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "IDX_5086c93f2ea6169e253b004680"`)
    await runner.query(`DROP INDEX "IDX_ebdac3f574efe48a8c8332d6d3"`)
    await runner.query(
      `CREATE TABLE "temporary_auth_reset_tokens" ("token_hash" varchar(64) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, "password_version" integer, CONSTRAINT "FK_ebdac3f574efe48a8c8332d6d31" FOREIGN KEY ("user_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `INSERT INTO "temporary_auth_reset_tokens"("token_hash", "user_id", "created_at", "expires_at") SELECT "token_hash", "user_id", "created_at", "expires_at" FROM "auth_reset_tokens"`,
    )
    await runner.query(`DROP TABLE "auth_reset_tokens"`)
    await runner.query(`ALTER TABLE "temporary_auth_reset_tokens" RENAME TO "auth_reset_tokens"`)
    await runner.query(`CREATE INDEX "IDX_5086c93f2ea6169e253b004680" ON "auth_reset_tokens" ("expires_at") `)
    await runner.query(`CREATE INDEX "IDX_ebdac3f574efe48a8c8332d6d3" ON "auth_reset_tokens" ("user_id") `)
    await runner.query(
      `CREATE TABLE "temporary_auth_users" ("id" varchar(36) PRIMARY KEY NOT NULL, "name" varchar(200) NOT NULL, "email" varchar(254) NOT NULL, "password_hash" varchar(255), "password_version" integer NOT NULL DEFAULT (0), "kept_session_id" varchar(36), "email_verified_at" datetime(3), "created_at" datetime(3) NOT NULL, "updated_at" datetime(3) NOT NULL, "role" varchar(20) NOT NULL DEFAULT ('user'), "disabled_at" datetime(3), CONSTRAINT "UQ_13d8b49e55a8b06bee6bbc828fb" UNIQUE ("email"))`,
    )
    await runner.query(
      `INSERT INTO "temporary_auth_users"("id", "name", "email", "password_hash", "password_version", "kept_session_id", "email_verified_at", "created_at", "updated_at", "role") SELECT "id", "name", "email", "password_hash", "password_version", "kept_session_id", "email_verified_at", "created_at", "updated_at", "role" FROM "auth_users"`,
    )
    await runner.query(`DROP TABLE "auth_users"`)
    await runner.query(`ALTER TABLE "temporary_auth_users" RENAME TO "auth_users"`)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`PRAGMA legacy_alter_table = ON`)
    await runner.query(`ALTER TABLE "auth_users" RENAME TO "temporary_auth_users"`)
    await runner.query(
      `CREATE TABLE "auth_users" ("id" varchar(36) PRIMARY KEY NOT NULL, "name" varchar(200) NOT NULL, "email" varchar(254) NOT NULL, "password_hash" varchar(255), "password_version" integer NOT NULL DEFAULT (0), "kept_session_id" varchar(36), "email_verified_at" datetime(3), "created_at" datetime(3) NOT NULL, "updated_at" datetime(3) NOT NULL, "role" varchar(20) NOT NULL DEFAULT ('user'), CONSTRAINT "UQ_13d8b49e55a8b06bee6bbc828fb" UNIQUE ("email"))`,
    )
    await runner.query(
      `INSERT INTO "auth_users"("id", "name", "email", "password_hash", "password_version", "kept_session_id", "email_verified_at", "created_at", "updated_at", "role") SELECT "id", "name", "email", "password_hash", "password_version", "kept_session_id", "email_verified_at", "created_at", "updated_at", "role" FROM "temporary_auth_users"`,
    )
    await runner.query(`DROP TABLE "temporary_auth_users"`)
    await runner.query(`DROP INDEX "IDX_ebdac3f574efe48a8c8332d6d3"`)
    await runner.query(`DROP INDEX "IDX_5086c93f2ea6169e253b004680"`)
    await runner.query(`ALTER TABLE "auth_reset_tokens" RENAME TO "temporary_auth_reset_tokens"`)
    await runner.query(
      `CREATE TABLE "auth_reset_tokens" ("token_hash" varchar(64) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "FK_ebdac3f574efe48a8c8332d6d31" FOREIGN KEY ("user_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `INSERT INTO "auth_reset_tokens"("token_hash", "user_id", "created_at", "expires_at") SELECT "token_hash", "user_id", "created_at", "expires_at" FROM "temporary_auth_reset_tokens"`,
    )
    await runner.query(`DROP TABLE "temporary_auth_reset_tokens"`)
    await runner.query(`CREATE INDEX "IDX_ebdac3f574efe48a8c8332d6d3" ON "auth_reset_tokens" ("user_id") `)
    await runner.query(`CREATE INDEX "IDX_5086c93f2ea6169e253b004680" ON "auth_reset_tokens" ("expires_at") `)
    await runner.query(`PRAGMA legacy_alter_table = OFF`)
  }
}
