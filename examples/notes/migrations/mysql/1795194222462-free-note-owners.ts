import type { MigrationInterface, QueryRunner } from 'typeorm'

export class FreeNoteOwners1795194222462 implements MigrationInterface {
  readonly name = 'FreeNoteOwners1795194222462'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE \`notes\` DROP FOREIGN KEY \`FK_f9e103f8ae67cb1787063597925\``)
    await runner.query(`ALTER TABLE \`notes\` MODIFY \`owner_id\` varchar(255) NOT NULL`)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE \`notes\` MODIFY \`owner_id\` varchar(36) NOT NULL`)
    await runner.query(
      `ALTER TABLE \`notes\` ADD CONSTRAINT \`FK_f9e103f8ae67cb1787063597925\` FOREIGN KEY (\`owner_id\`) REFERENCES \`auth_users\`(\`id\`) ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
  }
}
