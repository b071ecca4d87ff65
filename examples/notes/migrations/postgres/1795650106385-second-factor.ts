import type { MigrationInterface, QueryRunner } from 'typeorm'

export class SecondFactor1795650106385 implements MigrationInterface {
  readonly name = 'SecondFactor1795650106385'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "auth_recovery_codes" ("code_hash" character varying(64) NOT NULL, "user_id" character varying(36) NOT NULL, "batch" character varying(22), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "PK_4af334f25e95d88731eab16364f" PRIMARY KEY ("code_hash"))`,
    )
    await runner.query(`CREATE INDEX "IDX_4c758587802b0a946e93abd742" ON "auth_recovery_codes"  ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_181600124a163838b84db320e9" ON "auth_recovery_codes"  ("expires_at") `,
    )
    await runner.query(
      `CREATE TABLE "auth_session_methods" ("session_id" character varying(36) NOT NULL, "user_id" character varying(36) NOT NULL, "methods" character varying(64), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "PK_ece25c21e5a99f932a085d20767" PRIMARY KEY ("session_id"))`,
    )
    await runner.query(
      `CREATE INDEX "IDX_98593556c3a885bd7a5b2bec7c" ON "auth_session_methods"  ("user_id") `,
    )
    await runner.query(
      `CREATE INDEX "IDX_4c5a78076c138b1da71b3463e7" ON "auth_session_methods"  ("expires_at") `,
    )
    await runner.query(
      `CREATE TABLE "auth_totp" ("user_id" character varying(36) NOT NULL, "secret" character varying(128), "key_id" character varying(16), "recovery_batch" character varying(22), "confirmed_at" bigint, "last_step" bigint, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "PK_7d66b24ac1913069c2cb990292d" PRIMARY KEY ("user_id"))`,
    )
    await runner.query(`CREATE INDEX "IDX_06b4a3556654d613bdd2e10703" ON "auth_totp"  ("expires_at") `)
    await runner.query(
      `ALTER TABLE "auth_recovery_codes" ADD CONSTRAINT "FK_4c758587802b0a946e93abd7422" FOREIGN KEY ("user_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
    await runner.query(
      `ALTER TABLE "auth_session_methods" ADD CONSTRAINT "FK_98593556c3a885bd7a5b2bec7c2" FOREIGN KEY ("user_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
    await runner.query(
      `ALTER TABLE "auth_totp" ADD CONSTRAINT "FK_7d66b24ac1913069c2cb990292d" FOREIGN KEY ("user_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "auth_totp" DROP CONSTRAINT "FK_7d66b24ac1913069c2cb990292d"`)
    await runner.query(`ALTER TABLE "auth_session_methods" DROP CONSTRAINT "FK_98593556c3a885bd7a5b2bec7c2"`)
    await runner.query(`ALTER TABLE "auth_recovery_codes" DROP CONSTRAINT "FK_4c758587802b0a946e93abd7422"`)
    await runner.query(`DROP INDEX "public"."IDX_06b4a3556654d613bdd2e10703"`)
    await runner.query(`DROP TABLE "auth_totp"`)
    await runner.query(`DROP INDEX "public"."IDX_4c5a78076c138b1da71b3463e7"`)
    await runner.query(`DROP INDEX "public"."IDX_98593556c3a885bd7a5b2bec7c"`)
    await runner.query(`DROP TABLE "auth_session_methods"`)
    await runner.query(`DROP INDEX "public"."IDX_181600124a163838b84db320e9"`)
    await runner.query(`DROP INDEX "public"."IDX_4c758587802b0a946e93abd742"`)
    await runner.query(`DROP TABLE "auth_recovery_codes"`)
  }
}
