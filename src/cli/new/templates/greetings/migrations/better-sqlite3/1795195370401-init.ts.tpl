import type { MigrationInterface, QueryRunner } from 'typeorm'

export class Init1795195370401 implements MigrationInterface {
  readonly name = 'Init1795195370401'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "greetings" ("id" varchar(36) PRIMARY KEY NOT NULL, "name" varchar(40) NOT NULL, "text" varchar(500) NOT NULL, "created_at" datetime(3) NOT NULL)`,
    )
    await runner.query(`CREATE INDEX "IDX_02a15a73919c6e2bfa2856dfdc" ON "greetings" ("created_at") `)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "IDX_02a15a73919c6e2bfa2856dfdc"`)
    await runner.query(`DROP TABLE "greetings"`)
  }
}
