import type { MigrationInterface, QueryRunner } from 'typeorm'

export class AuthFeatures1795649169847 implements MigrationInterface {
  readonly name = 'AuthFeatures1795649169847'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE \`auth_challenges\` (\`token_hash\` varchar(64) NOT NULL, \`user_id\` varchar(36) NOT NULL, \`purpose\` varchar(40) NULL, \`data\` varchar(1000) NULL, \`password_version\` bigint NULL, \`tries_left\` bigint NULL, \`created_at\` bigint NOT NULL, \`expires_at\` bigint NOT NULL, INDEX \`IDX_ce2bfa62e2ffd702457bc39b7e\` (\`user_id\`), INDEX \`IDX_8400096032a6aa290879cd21d0\` (\`expires_at\`), PRIMARY KEY (\`token_hash\`)) ENGINE=InnoDB`,
    )
    await runner.query(
      `CREATE TABLE \`auth_session_details\` (\`session_id\` varchar(36) NOT NULL, \`user_id\` varchar(36) NOT NULL, \`agent\` varchar(255) NULL, \`ip\` varchar(45) NULL, \`created_at\` bigint NOT NULL, \`expires_at\` bigint NOT NULL, INDEX \`IDX_310652c4d1c9f3947bdd5db51e\` (\`user_id\`), INDEX \`IDX_99bcd61100485d3676805961f3\` (\`expires_at\`), PRIMARY KEY (\`session_id\`)) ENGINE=InnoDB`,
    )
    await runner.query(
      `ALTER TABLE \`auth_challenges\` ADD CONSTRAINT \`FK_ce2bfa62e2ffd702457bc39b7eb\` FOREIGN KEY (\`user_id\`) REFERENCES \`auth_users\`(\`id\`) ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
    await runner.query(
      `ALTER TABLE \`auth_session_details\` ADD CONSTRAINT \`FK_310652c4d1c9f3947bdd5db51e2\` FOREIGN KEY (\`user_id\`) REFERENCES \`auth_users\`(\`id\`) ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE \`auth_session_details\` DROP FOREIGN KEY \`FK_310652c4d1c9f3947bdd5db51e2\``,
    )
    await runner.query(`ALTER TABLE \`auth_challenges\` DROP FOREIGN KEY \`FK_ce2bfa62e2ffd702457bc39b7eb\``)
    await runner.query(`DROP INDEX \`IDX_99bcd61100485d3676805961f3\` ON \`auth_session_details\``)
    await runner.query(`DROP INDEX \`IDX_310652c4d1c9f3947bdd5db51e\` ON \`auth_session_details\``)
    await runner.query(`DROP TABLE \`auth_session_details\``)
    await runner.query(`DROP INDEX \`IDX_8400096032a6aa290879cd21d0\` ON \`auth_challenges\``)
    await runner.query(`DROP INDEX \`IDX_ce2bfa62e2ffd702457bc39b7e\` ON \`auth_challenges\``)
    await runner.query(`DROP TABLE \`auth_challenges\``)
  }
}
