import type { MigrationInterface, QueryRunner } from 'typeorm'

export class DisabledAccounts1795327296518 implements MigrationInterface {
  readonly name = 'DisabledAccounts1795327296518'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE \`auth_reset_tokens\` ADD \`password_version\` int NULL`)
    await runner.query(`ALTER TABLE \`auth_users\` ADD \`disabled_at\` datetime(3) NULL`)
    // Byte by byte, so that an accent makes another address. TypeORM does not compare collations, so it is written by hand.
    await runner.query(
      `ALTER TABLE \`auth_users\` MODIFY \`email\` varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE \`auth_users\` MODIFY \`email\` varchar(254) NOT NULL`)
    await runner.query(`ALTER TABLE \`auth_users\` DROP COLUMN \`disabled_at\``)
    await runner.query(`ALTER TABLE \`auth_reset_tokens\` DROP COLUMN \`password_version\``)
  }
}
