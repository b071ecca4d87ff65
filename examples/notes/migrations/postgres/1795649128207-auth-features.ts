import type { MigrationInterface, QueryRunner } from 'typeorm'

export class AuthFeatures1795649128207 implements MigrationInterface {
  readonly name = 'AuthFeatures1795649128207'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "auth_challenges" ("token_hash" character varying(64) NOT NULL, "user_id" character varying(36) NOT NULL, "purpose" character varying(40), "data" character varying(1000), "password_version" bigint, "tries_left" bigint, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "PK_ccfdede657a422a4fb361cdefab" PRIMARY KEY ("token_hash"))`,
    )
    await runner.query(`CREATE INDEX "IDX_ce2bfa62e2ffd702457bc39b7e" ON "auth_challenges"  ("user_id") `)
    await runner.query(`CREATE INDEX "IDX_8400096032a6aa290879cd21d0" ON "auth_challenges"  ("expires_at") `)
    await runner.query(
      `CREATE TABLE "auth_session_details" ("session_id" character varying(36) NOT NULL, "user_id" character varying(36) NOT NULL, "agent" character varying(255), "ip" character varying(45), "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, CONSTRAINT "PK_7b0b7d656b67da05bed91457ab9" PRIMARY KEY ("session_id"))`,
    )
    await runner.query(
      `CREATE INDEX "IDX_310652c4d1c9f3947bdd5db51e" ON "auth_session_details"  ("user_id") `,
    )
    await runner.query(
      `CREATE INDEX "IDX_99bcd61100485d3676805961f3" ON "auth_session_details"  ("expires_at") `,
    )
    await runner.query(
      `ALTER TABLE "auth_challenges" ADD CONSTRAINT "FK_ce2bfa62e2ffd702457bc39b7eb" FOREIGN KEY ("user_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
    await runner.query(
      `ALTER TABLE "auth_session_details" ADD CONSTRAINT "FK_310652c4d1c9f3947bdd5db51e2" FOREIGN KEY ("user_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "auth_session_details" DROP CONSTRAINT "FK_310652c4d1c9f3947bdd5db51e2"`)
    await runner.query(`ALTER TABLE "auth_challenges" DROP CONSTRAINT "FK_ce2bfa62e2ffd702457bc39b7eb"`)
    await runner.query(`DROP INDEX "public"."IDX_99bcd61100485d3676805961f3"`)
    await runner.query(`DROP INDEX "public"."IDX_310652c4d1c9f3947bdd5db51e"`)
    await runner.query(`DROP TABLE "auth_session_details"`)
    await runner.query(`DROP INDEX "public"."IDX_8400096032a6aa290879cd21d0"`)
    await runner.query(`DROP INDEX "public"."IDX_ce2bfa62e2ffd702457bc39b7e"`)
    await runner.query(`DROP TABLE "auth_challenges"`)
  }
}
