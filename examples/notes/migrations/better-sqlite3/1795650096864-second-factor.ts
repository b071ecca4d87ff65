import type { MigrationInterface, QueryRunner } from 'typeorm'

export class SecondFactor1795650096864 implements MigrationInterface {
  readonly name = 'SecondFactor1795650096864'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "auth_recovery_codes" ("code_hash" varchar(64) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "batch" varchar(22), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(`CREATE INDEX "IDX_4c758587802b0a946e93abd742" ON "auth_recovery_codes" ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_181600124a163838b84db320e9" ON "auth_recovery_codes" ("expires_at") `,
    )
    await runner.query(
      `CREATE TABLE "auth_session_methods" ("session_id" varchar(36) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "methods" varchar(64), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(`CREATE INDEX "IDX_98593556c3a885bd7a5b2bec7c" ON "auth_session_methods" ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_4c5a78076c138b1da71b3463e7" ON "auth_session_methods" ("expires_at") `,
    )
    await runner.query(
      `CREATE TABLE "auth_totp" ("user_id" varchar(36) PRIMARY KEY NOT NULL, "secret" varchar(128), "key_id" varchar(16), "recovery_batch" varchar(22), "confirmed_at" bigint, "last_step" bigint, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(`CREATE INDEX "IDX_06b4a3556654d613bdd2e10703" ON "auth_totp" ("expires_at") `)
    await runner.query(`DROP INDEX "IDX_4c758587802b0a946e93abd742"`)
    await runner.query(`DROP INDEX "IDX_181600124a163838b84db320e9"`)
    await runner.query(
      `CREATE TABLE "temporary_auth_recovery_codes" ("code_hash" varchar(64) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "batch" varchar(22), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "FK_4c758587802b0a946e93abd7422" FOREIGN KEY ("user_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `INSERT INTO "temporary_auth_recovery_codes"("code_hash", "user_id", "batch", "created_at", "expires_at") SELECT "code_hash", "user_id", "batch", "created_at", "expires_at" FROM "auth_recovery_codes"`,
    )
    await runner.query(`DROP TABLE "auth_recovery_codes"`)
    await runner.query(`ALTER TABLE "temporary_auth_recovery_codes" RENAME TO "auth_recovery_codes"`)
    await runner.query(`CREATE INDEX "IDX_4c758587802b0a946e93abd742" ON "auth_recovery_codes" ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_181600124a163838b84db320e9" ON "auth_recovery_codes" ("expires_at") `,
    )
    await runner.query(`DROP INDEX "IDX_98593556c3a885bd7a5b2bec7c"`)
    await runner.query(`DROP INDEX "IDX_4c5a78076c138b1da71b3463e7"`)
    await runner.query(
      `CREATE TABLE "temporary_auth_session_methods" ("session_id" varchar(36) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "methods" varchar(64), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "FK_98593556c3a885bd7a5b2bec7c2" FOREIGN KEY ("user_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `INSERT INTO "temporary_auth_session_methods"("session_id", "user_id", "methods", "created_at", "expires_at") SELECT "session_id", "user_id", "methods", "created_at", "expires_at" FROM "auth_session_methods"`,
    )
    await runner.query(`DROP TABLE "auth_session_methods"`)
    await runner.query(`ALTER TABLE "temporary_auth_session_methods" RENAME TO "auth_session_methods"`)
    await runner.query(`CREATE INDEX "IDX_98593556c3a885bd7a5b2bec7c" ON "auth_session_methods" ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_4c5a78076c138b1da71b3463e7" ON "auth_session_methods" ("expires_at") `,
    )
    await runner.query(`DROP INDEX "IDX_06b4a3556654d613bdd2e10703"`)
    await runner.query(
      `CREATE TABLE "temporary_auth_totp" ("user_id" varchar(36) PRIMARY KEY NOT NULL, "secret" varchar(128), "key_id" varchar(16), "recovery_batch" varchar(22), "confirmed_at" bigint, "last_step" bigint, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "FK_7d66b24ac1913069c2cb990292d" FOREIGN KEY ("user_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `INSERT INTO "temporary_auth_totp"("user_id", "secret", "key_id", "recovery_batch", "confirmed_at", "last_step", "created_at", "expires_at") SELECT "user_id", "secret", "key_id", "recovery_batch", "confirmed_at", "last_step", "created_at", "expires_at" FROM "auth_totp"`,
    )
    await runner.query(`DROP TABLE "auth_totp"`)
    await runner.query(`ALTER TABLE "temporary_auth_totp" RENAME TO "auth_totp"`)
    await runner.query(`CREATE INDEX "IDX_06b4a3556654d613bdd2e10703" ON "auth_totp" ("expires_at") `)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`PRAGMA legacy_alter_table = ON`)
    await runner.query(`DROP INDEX "IDX_06b4a3556654d613bdd2e10703"`)
    await runner.query(`ALTER TABLE "auth_totp" RENAME TO "temporary_auth_totp"`)
    await runner.query(
      `CREATE TABLE "auth_totp" ("user_id" varchar(36) PRIMARY KEY NOT NULL, "secret" varchar(128), "key_id" varchar(16), "recovery_batch" varchar(22), "confirmed_at" bigint, "last_step" bigint, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(
      `INSERT INTO "auth_totp"("user_id", "secret", "key_id", "recovery_batch", "confirmed_at", "last_step", "created_at", "expires_at") SELECT "user_id", "secret", "key_id", "recovery_batch", "confirmed_at", "last_step", "created_at", "expires_at" FROM "temporary_auth_totp"`,
    )
    await runner.query(`DROP TABLE "temporary_auth_totp"`)
    await runner.query(`CREATE INDEX "IDX_06b4a3556654d613bdd2e10703" ON "auth_totp" ("expires_at") `)
    await runner.query(`DROP INDEX "IDX_4c5a78076c138b1da71b3463e7"`)
    await runner.query(`DROP INDEX "IDX_98593556c3a885bd7a5b2bec7c"`)
    await runner.query(`ALTER TABLE "auth_session_methods" RENAME TO "temporary_auth_session_methods"`)
    await runner.query(
      `CREATE TABLE "auth_session_methods" ("session_id" varchar(36) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "methods" varchar(64), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(
      `INSERT INTO "auth_session_methods"("session_id", "user_id", "methods", "created_at", "expires_at") SELECT "session_id", "user_id", "methods", "created_at", "expires_at" FROM "temporary_auth_session_methods"`,
    )
    await runner.query(`DROP TABLE "temporary_auth_session_methods"`)
    await runner.query(
      `CREATE INDEX "IDX_4c5a78076c138b1da71b3463e7" ON "auth_session_methods" ("expires_at") `,
    )
    await runner.query(`CREATE INDEX "IDX_98593556c3a885bd7a5b2bec7c" ON "auth_session_methods" ("user_id") `)
    await runner.query(`DROP INDEX "IDX_181600124a163838b84db320e9"`)
    await runner.query(`DROP INDEX "IDX_4c758587802b0a946e93abd742"`)
    await runner.query(`ALTER TABLE "auth_recovery_codes" RENAME TO "temporary_auth_recovery_codes"`)
    await runner.query(
      `CREATE TABLE "auth_recovery_codes" ("code_hash" varchar(64) PRIMARY KEY NOT NULL, "user_id" varchar(36) NOT NULL, "batch" varchar(22), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL)`,
    )
    await runner.query(
      `INSERT INTO "auth_recovery_codes"("code_hash", "user_id", "batch", "created_at", "expires_at") SELECT "code_hash", "user_id", "batch", "created_at", "expires_at" FROM "temporary_auth_recovery_codes"`,
    )
    await runner.query(`DROP TABLE "temporary_auth_recovery_codes"`)
    await runner.query(
      `CREATE INDEX "IDX_181600124a163838b84db320e9" ON "auth_recovery_codes" ("expires_at") `,
    )
    await runner.query(`CREATE INDEX "IDX_4c758587802b0a946e93abd742" ON "auth_recovery_codes" ("user_id") `)
    await runner.query(`DROP INDEX "IDX_06b4a3556654d613bdd2e10703"`)
    await runner.query(`DROP TABLE "auth_totp"`)
    await runner.query(`DROP INDEX "IDX_4c5a78076c138b1da71b3463e7"`)
    await runner.query(`DROP INDEX "IDX_98593556c3a885bd7a5b2bec7c"`)
    await runner.query(`DROP TABLE "auth_session_methods"`)
    await runner.query(`DROP INDEX "IDX_181600124a163838b84db320e9"`)
    await runner.query(`DROP INDEX "IDX_4c758587802b0a946e93abd742"`)
    await runner.query(`DROP TABLE "auth_recovery_codes"`)
    await runner.query(`PRAGMA legacy_alter_table = OFF`)
  }
}
