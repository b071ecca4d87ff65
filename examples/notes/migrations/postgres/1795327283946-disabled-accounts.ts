import type { MigrationInterface, QueryRunner } from 'typeorm'

export class DisabledAccounts1795327283946 implements MigrationInterface {
  readonly name = 'DisabledAccounts1795327283946'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "auth_reset_tokens" ADD "password_version" integer`)
    await runner.query(`ALTER TABLE "auth_users" ADD "disabled_at" TIMESTAMP(3)`)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "auth_users" DROP COLUMN "disabled_at"`)
    await runner.query(`ALTER TABLE "auth_reset_tokens" DROP COLUMN "password_version"`)
  }
}
