import type { MigrationInterface, QueryRunner } from 'typeorm'

export class FreeNoteOwners1795194190584 implements MigrationInterface {
  readonly name = 'FreeNoteOwners1795194190584'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "IDX_70b230da01866b2a511b2d659e"`)
    await runner.query(
      `CREATE TABLE "temporary_notes" ("id" varchar(36) PRIMARY KEY NOT NULL, "owner_id" varchar(255) NOT NULL, "title" varchar(200) NOT NULL, "text" text NOT NULL, "archived" boolean NOT NULL DEFAULT (0), "created_at" datetime(3) NOT NULL, "updated_at" datetime(3) NOT NULL)`,
    )
    await runner.query(
      `INSERT INTO "temporary_notes"("id", "owner_id", "title", "text", "archived", "created_at", "updated_at") SELECT "id", "owner_id", "title", "text", "archived", "created_at", "updated_at" FROM "notes"`,
    )
    await runner.query(`DROP TABLE "notes"`)
    await runner.query(`ALTER TABLE "temporary_notes" RENAME TO "notes"`)
    await runner.query(`CREATE INDEX "IDX_70b230da01866b2a511b2d659e" ON "notes" ("owner_id", "created_at") `)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`PRAGMA legacy_alter_table = ON`)
    await runner.query(`DROP INDEX "IDX_70b230da01866b2a511b2d659e"`)
    await runner.query(`ALTER TABLE "notes" RENAME TO "temporary_notes"`)
    await runner.query(
      `CREATE TABLE "notes" ("id" varchar(36) PRIMARY KEY NOT NULL, "owner_id" varchar(36) NOT NULL, "title" varchar(200) NOT NULL, "text" text NOT NULL, "archived" boolean NOT NULL DEFAULT (0), "created_at" datetime(3) NOT NULL, "updated_at" datetime(3) NOT NULL, CONSTRAINT "FK_f9e103f8ae67cb1787063597925" FOREIGN KEY ("owner_id") REFERENCES "auth_users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION)`,
    )
    await runner.query(
      `INSERT INTO "notes"("id", "owner_id", "title", "text", "archived", "created_at", "updated_at") SELECT "id", "owner_id", "title", "text", "archived", "created_at", "updated_at" FROM "temporary_notes"`,
    )
    await runner.query(`DROP TABLE "temporary_notes"`)
    await runner.query(`CREATE INDEX "IDX_70b230da01866b2a511b2d659e" ON "notes" ("owner_id", "created_at") `)
    await runner.query(`PRAGMA legacy_alter_table = OFF`)
  }
}
