import type { MigrationInterface, QueryRunner } from 'typeorm'

export class FreeNoteOwners1795194219090 implements MigrationInterface {
  readonly name = 'FreeNoteOwners1795194219090'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "notes" DROP CONSTRAINT "FK_f9e103f8ae67cb1787063597925"`)
    await runner.query(`ALTER TABLE "notes" ALTER COLUMN "owner_id" TYPE character varying(255)`)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "notes" ALTER COLUMN "owner_id" TYPE character varying(36)`)
    await runner.query(
      `ALTER TABLE "notes" ADD CONSTRAINT "FK_f9e103f8ae67cb1787063597925" FOREIGN KEY ("owner_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
  }
}
