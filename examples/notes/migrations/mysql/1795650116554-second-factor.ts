import type { MigrationInterface, QueryRunner } from 'typeorm'

export class SecondFactor1795650116554 implements MigrationInterface {
  readonly name = 'SecondFactor1795650116554'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE \`auth_recovery_codes\` (\`code_hash\` varchar(64) NOT NULL, \`user_id\` varchar(36) NOT NULL, \`batch\` varchar(22) NULL, \`created_at\` bigint NOT NULL, \`expires_at\` bigint NOT NULL, INDEX \`IDX_4c758587802b0a946e93abd742\` (\`user_id\`), INDEX \`IDX_181600124a163838b84db320e9\` (\`expires_at\`), PRIMARY KEY (\`code_hash\`)) ENGINE=InnoDB`,
    )
    await runner.query(
      `CREATE TABLE \`auth_session_methods\` (\`session_id\` varchar(36) NOT NULL, \`user_id\` varchar(36) NOT NULL, \`methods\` varchar(64) NULL, \`created_at\` bigint NOT NULL, \`expires_at\` bigint NOT NULL, INDEX \`IDX_98593556c3a885bd7a5b2bec7c\` (\`user_id\`), INDEX \`IDX_4c5a78076c138b1da71b3463e7\` (\`expires_at\`), PRIMARY KEY (\`session_id\`)) ENGINE=InnoDB`,
    )
    await runner.query(
      `CREATE TABLE \`auth_totp\` (\`user_id\` varchar(36) NOT NULL, \`secret\` varchar(128) NULL, \`key_id\` varchar(16) NULL, \`recovery_batch\` varchar(22) NULL, \`confirmed_at\` bigint NULL, \`last_step\` bigint NULL, \`created_at\` bigint NOT NULL, \`expires_at\` bigint NOT NULL, INDEX \`IDX_06b4a3556654d613bdd2e10703\` (\`expires_at\`), PRIMARY KEY (\`user_id\`)) ENGINE=InnoDB`,
    )
    await runner.query(
      `ALTER TABLE \`auth_recovery_codes\` ADD CONSTRAINT \`FK_4c758587802b0a946e93abd7422\` FOREIGN KEY (\`user_id\`) REFERENCES \`auth_users\`(\`id\`) ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
    await runner.query(
      `ALTER TABLE \`auth_session_methods\` ADD CONSTRAINT \`FK_98593556c3a885bd7a5b2bec7c2\` FOREIGN KEY (\`user_id\`) REFERENCES \`auth_users\`(\`id\`) ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
    await runner.query(
      `ALTER TABLE \`auth_totp\` ADD CONSTRAINT \`FK_7d66b24ac1913069c2cb990292d\` FOREIGN KEY (\`user_id\`) REFERENCES \`auth_users\`(\`id\`) ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE \`auth_totp\` DROP FOREIGN KEY \`FK_7d66b24ac1913069c2cb990292d\``)
    await runner.query(
      `ALTER TABLE \`auth_session_methods\` DROP FOREIGN KEY \`FK_98593556c3a885bd7a5b2bec7c2\``,
    )
    await runner.query(
      `ALTER TABLE \`auth_recovery_codes\` DROP FOREIGN KEY \`FK_4c758587802b0a946e93abd7422\``,
    )
    await runner.query(`DROP INDEX \`IDX_06b4a3556654d613bdd2e10703\` ON \`auth_totp\``)
    await runner.query(`DROP TABLE \`auth_totp\``)
    await runner.query(`DROP INDEX \`IDX_4c5a78076c138b1da71b3463e7\` ON \`auth_session_methods\``)
    await runner.query(`DROP INDEX \`IDX_98593556c3a885bd7a5b2bec7c\` ON \`auth_session_methods\``)
    await runner.query(`DROP TABLE \`auth_session_methods\``)
    await runner.query(`DROP INDEX \`IDX_181600124a163838b84db320e9\` ON \`auth_recovery_codes\``)
    await runner.query(`DROP INDEX \`IDX_4c758587802b0a946e93abd742\` ON \`auth_recovery_codes\``)
    await runner.query(`DROP TABLE \`auth_recovery_codes\``)
  }
}
