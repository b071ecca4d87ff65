import type { MigrationInterface, QueryRunner } from 'typeorm'

export class AuthFeatures1795649090509 implements MigrationInterface {
  readonly name = 'AuthFeatures1795649090509'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "auth_challenges" ("token_hash" varchar(64) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "purpose" varchar(40), "data" varchar(1000), "password_version" bigint, "tries_left" bigint, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(`CREATE INDEX "IDX_ce2bfa62e2ffd702457bc39b7e" ON "auth_challenges" ("user_id") `)
    await runner.query(`CREATE INDEX "IDX_8400096032a6aa290879cd21d0" ON "auth_challenges" ("expires_at") `)
    await runner.query(
      `CREATE TABLE "auth_session_details" ("session_id" varchar(36) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "agent" varchar(255), "ip" varchar(45), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(`CREATE INDEX "IDX_310652c4d1c9f3947bdd5db51e" ON "auth_session_details" ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_99bcd61100485d3676805961f3" ON "auth_session_details" ("expires_at") `,
    )
    await runner.query(`DROP INDEX "IDX_ce2bfa62e2ffd702457bc39b7e"`)
    await runner.query(`DROP INDEX "IDX_8400096032a6aa290879cd21d0"`)
    await runner.query(
      `CREATE TABLE "temporary_auth_challenges" ("token_hash" varchar(64) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "purpose" varchar(40), "data" varchar(1000), "password_version" bigint, "tries_left" bigint, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "FK_ce2bfa62e2ffd702457bc39b7eb" FOREIGN KEY ("user_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `INSERT INTO "temporary_auth_challenges"("token_hash", "user_id", "purpose", "data", "password_version", "tries_left", "created_at", "expires_at") SELECT "token_hash", "user_id", "purpose", "data", "password_version", "tries_left", "created_at", "expires_at" FROM "auth_challenges"`,
    )
    await runner.query(`DROP TABLE "auth_challenges"`)
    await runner.query(`ALTER TABLE "temporary_auth_challenges" RENAME TO "auth_challenges"`)
    await runner.query(`CREATE INDEX "IDX_ce2bfa62e2ffd702457bc39b7e" ON "auth_challenges" ("user_id") `)
    await runner.query(`CREATE INDEX "IDX_8400096032a6aa290879cd21d0" ON "auth_challenges" ("expires_at") `)
    await runner.query(`DROP INDEX "IDX_310652c4d1c9f3947bdd5db51e"`)
    await runner.query(`DROP INDEX "IDX_99bcd61100485d3676805961f3"`)
    await runner.query(
      `CREATE TABLE "temporary_auth_session_details" ("session_id" varchar(36) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "agent" varchar(255), "ip" varchar(45), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "FK_310652c4d1c9f3947bdd5db51e2" FOREIGN KEY ("user_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `INSERT INTO "temporary_auth_session_details"("session_id", "user_id", "agent", "ip", "created_at", "expires_at") SELECT "session_id", "user_id", "agent", "ip", "created_at", "expires_at" FROM "auth_session_details"`,
    )
    await runner.query(`DROP TABLE "auth_session_details"`)
    await runner.query(`ALTER TABLE "temporary_auth_session_details" RENAME TO "auth_session_details"`)
    await runner.query(`CREATE INDEX "IDX_310652c4d1c9f3947bdd5db51e" ON "auth_session_details" ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_99bcd61100485d3676805961f3" ON "auth_session_details" ("expires_at") `,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`PRAGMA legacy_alter_table = ON`)
    await runner.query(`DROP INDEX "IDX_99bcd61100485d3676805961f3"`)
    await runner.query(`DROP INDEX "IDX_310652c4d1c9f3947bdd5db51e"`)
    await runner.query(`ALTER TABLE "auth_session_details" RENAME TO "temporary_auth_session_details"`)
    await runner.query(
      `CREATE TABLE "auth_session_details" ("session_id" varchar(36) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "agent" varchar(255), "ip" varchar(45), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(
      `INSERT INTO "auth_session_details"("session_id", "user_id", "agent", "ip", "created_at", "expires_at") SELECT "session_id", "user_id", "agent", "ip", "created_at", "expires_at" FROM "temporary_auth_session_details"`,
    )
    await runner.query(`DROP TABLE "temporary_auth_session_details"`)
    await runner.query(
      `CREATE INDEX "IDX_99bcd61100485d3676805961f3" ON "auth_session_details" ("expires_at") `,
    )
    await runner.query(`CREATE INDEX "IDX_310652c4d1c9f3947bdd5db51e" ON "auth_session_details" ("user_id") `)
    await runner.query(`DROP INDEX "IDX_8400096032a6aa290879cd21d0"`)
    await runner.query(`DROP INDEX "IDX_ce2bfa62e2ffd702457bc39b7e"`)
    await runner.query(`ALTER TABLE "auth_challenges" RENAME TO "temporary_auth_challenges"`)
    await runner.query(
      `CREATE TABLE "auth_challenges" ("token_hash" varchar(64) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "purpose" varchar(40), "data" varchar(1000), "password_version" bigint, "tries_left" bigint, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(
      `INSERT INTO "auth_challenges"("token_hash", "user_id", "purpose", "data", "password_version", "tries_left", "created_at", "expires_at") SELECT "token_hash", "user_id", "purpose", "data", "password_version", "tries_left", "created_at", "expires_at" FROM "temporary_auth_challenges"`,
    )
    await runner.query(`DROP TABLE "temporary_auth_challenges"`)
    await runner.query(`CREATE INDEX "IDX_8400096032a6aa290879cd21d0" ON "auth_challenges" ("expires_at") `)
    await runner.query(`CREATE INDEX "IDX_ce2bfa62e2ffd702457bc39b7e" ON "auth_challenges" ("user_id") `)
    await runner.query(`DROP INDEX "IDX_99bcd61100485d3676805961f3"`)
    await runner.query(`DROP INDEX "IDX_310652c4d1c9f3947bdd5db51e"`)
    await runner.query(`DROP TABLE "auth_session_details"`)
    await runner.query(`DROP INDEX "IDX_8400096032a6aa290879cd21d0"`)
    await runner.query(`DROP INDEX "IDX_ce2bfa62e2ffd702457bc39b7e"`)
    await runner.query(`DROP TABLE "auth_challenges"`)
    await runner.query(`PRAGMA legacy_alter_table = OFF`)
  }
}
