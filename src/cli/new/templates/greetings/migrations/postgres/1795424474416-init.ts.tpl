import type { MigrationInterface, QueryRunner } from 'typeorm'

export class Init1795424474416 implements MigrationInterface {
  readonly name = 'Init1795424474416'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "greetings" ("id" character varying(36) NOT NULL, "name" character varying(40) NOT NULL, "text" character varying(500) NOT NULL, "created_at" TIMESTAMP(3) NOT NULL, CONSTRAINT "PK_2d1578bc6c89258211ed37b304c" PRIMARY KEY ("id"))`,
    )
    await runner.query(`CREATE INDEX "IDX_02a15a73919c6e2bfa2856dfdc" ON "greetings"  ("created_at") `)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."IDX_02a15a73919c6e2bfa2856dfdc"`)
    await runner.query(`DROP TABLE "greetings"`)
  }
}
