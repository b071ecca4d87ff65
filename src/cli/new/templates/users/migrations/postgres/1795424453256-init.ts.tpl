import type { MigrationInterface, QueryRunner } from 'typeorm'

export class Init1795424453256 implements MigrationInterface {
  readonly name = 'Init1795424453256'

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
    await runner.query(
      `CREATE TABLE "auth_refresh_tokens" ("id" character varying(36) NOT NULL, "user_id" character varying(36) NOT NULL, "password_version" integer NOT NULL, "family_hash" character varying(64) NOT NULL, "token_hash" character varying(64) NOT NULL, "previous_hash" character varying(64), "created_at" bigint NOT NULL, "rotated_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "UQ_92dd28fb7e9b33e544fcb70b285" UNIQUE ("family_hash"), CONSTRAINT "PK_df6893d2063a4ea7bbf1eda31e5" PRIMARY KEY ("id"))`,
    )
    await runner.query(`CREATE INDEX "IDX_f795ad14f31838e3ddc663ee15" ON "auth_refresh_tokens"  ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_ece598cfc600e3338004a9efff" ON "auth_refresh_tokens"  ("expires_at") `,
    )
    await runner.query(
      `CREATE TABLE "auth_reset_tokens" ("token_hash" character varying(64) NOT NULL, "user_id" character varying(36) NOT NULL, "password_version" integer, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "PK_853816cf823b3968d2ed158d4a6" PRIMARY KEY ("token_hash"))`,
    )
    await runner.query(`CREATE INDEX "IDX_ebdac3f574efe48a8c8332d6d3" ON "auth_reset_tokens"  ("user_id") `)
    await runner.query(
      `CREATE INDEX "IDX_5086c93f2ea6169e253b004680" ON "auth_reset_tokens"  ("expires_at") `,
    )
    await runner.query(
      `CREATE TABLE "auth_users" ("id" character varying(36) NOT NULL, "name" character varying(200) NOT NULL, "email" character varying(254) NOT NULL, "password_hash" character varying(255), "password_version" integer NOT NULL DEFAULT '0', "kept_session_id" character varying(36), "email_verified_at" TIMESTAMP(3), "disabled_at" TIMESTAMP(3), "created_at" TIMESTAMP(3) NOT NULL, "updated_at" TIMESTAMP(3) NOT NULL, "role" character varying(20) NOT NULL DEFAULT 'user', CONSTRAINT "UQ_13d8b49e55a8b06bee6bbc828fb" UNIQUE ("email"), CONSTRAINT "PK_c88cc8077366b470dafc2917366" PRIMARY KEY ("id"))`,
    )
    await runner.query(
      `ALTER TABLE "auth_refresh_tokens" ADD CONSTRAINT "FK_f795ad14f31838e3ddc663ee150" FOREIGN KEY ("user_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
    await runner.query(
      `ALTER TABLE "auth_reset_tokens" ADD CONSTRAINT "FK_ebdac3f574efe48a8c8332d6d31" FOREIGN KEY ("user_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "auth_reset_tokens" DROP CONSTRAINT "FK_ebdac3f574efe48a8c8332d6d31"`)
    await runner.query(`ALTER TABLE "auth_refresh_tokens" DROP CONSTRAINT "FK_f795ad14f31838e3ddc663ee150"`)
    await runner.query(`DROP TABLE "auth_users"`)
    await runner.query(`DROP INDEX "public"."IDX_5086c93f2ea6169e253b004680"`)
    await runner.query(`DROP INDEX "public"."IDX_ebdac3f574efe48a8c8332d6d3"`)
    await runner.query(`DROP TABLE "auth_reset_tokens"`)
    await runner.query(`DROP INDEX "public"."IDX_ece598cfc600e3338004a9efff"`)
    await runner.query(`DROP INDEX "public"."IDX_f795ad14f31838e3ddc663ee15"`)
    await runner.query(`DROP TABLE "auth_refresh_tokens"`)
    await runner.query(`DROP INDEX "public"."IDX_de4a0c96606d419b9044c61adf"`)
    await runner.query(`DROP INDEX "public"."IDX_273d87a4416aa17d3672154aa4"`)
    await runner.query(`DROP TABLE "auth_ended_sessions"`)
  }
}
