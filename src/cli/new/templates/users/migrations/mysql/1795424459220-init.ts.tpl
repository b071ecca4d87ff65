import type { MigrationInterface, QueryRunner } from 'typeorm'

export class Init1795424459220 implements MigrationInterface {
  readonly name = 'Init1795424459220'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE \`auth_ended_sessions\` (\`id\` varchar(36) NOT NULL, \`ended_at\` bigint NOT NULL, \`expires_at\` bigint NOT NULL, INDEX \`IDX_273d87a4416aa17d3672154aa4\` (\`ended_at\`), INDEX \`IDX_de4a0c96606d419b9044c61adf\` (\`expires_at\`), PRIMARY KEY (\`id\`)) ENGINE=InnoDB`,
    )
    await runner.query(
      `CREATE TABLE \`auth_refresh_tokens\` (\`id\` varchar(36) NOT NULL, \`user_id\` varchar(36) NOT NULL, \`password_version\` int NOT NULL, \`family_hash\` varchar(64) NOT NULL, \`token_hash\` varchar(64) NOT NULL, \`previous_hash\` varchar(64) NULL, \`created_at\` bigint NOT NULL, \`rotated_at\` bigint NOT NULL, \`expires_at\` bigint NOT NULL, INDEX \`IDX_f795ad14f31838e3ddc663ee15\` (\`user_id\`), INDEX \`IDX_ece598cfc600e3338004a9efff\` (\`expires_at\`), UNIQUE INDEX \`IDX_92dd28fb7e9b33e544fcb70b28\` (\`family_hash\`), PRIMARY KEY (\`id\`)) ENGINE=InnoDB`,
    )
    await runner.query(
      `CREATE TABLE \`auth_reset_tokens\` (\`token_hash\` varchar(64) NOT NULL, \`user_id\` varchar(36) NOT NULL, \`password_version\` int NULL, \`created_at\` bigint NOT NULL, \`expires_at\` bigint NOT NULL, INDEX \`IDX_ebdac3f574efe48a8c8332d6d3\` (\`user_id\`), INDEX \`IDX_5086c93f2ea6169e253b004680\` (\`expires_at\`), PRIMARY KEY (\`token_hash\`)) ENGINE=InnoDB`,
    )
    await runner.query(
      `CREATE TABLE \`auth_users\` (\`id\` varchar(36) NOT NULL, \`name\` varchar(200) NOT NULL, \`email\` varchar(254) CHARACTER SET "utf8mb4" COLLATE "utf8mb4_bin" NOT NULL, \`password_hash\` varchar(255) NULL, \`password_version\` int NOT NULL DEFAULT '0', \`kept_session_id\` varchar(36) NULL, \`email_verified_at\` datetime(3) NULL, \`disabled_at\` datetime(3) NULL, \`created_at\` datetime(3) NOT NULL, \`updated_at\` datetime(3) NOT NULL, \`role\` varchar(20) NOT NULL DEFAULT 'user', UNIQUE INDEX \`IDX_13d8b49e55a8b06bee6bbc828f\` (\`email\`), PRIMARY KEY (\`id\`)) ENGINE=InnoDB`,
    )
    await runner.query(
      `ALTER TABLE \`auth_refresh_tokens\` ADD CONSTRAINT \`FK_f795ad14f31838e3ddc663ee150\` FOREIGN KEY (\`user_id\`) REFERENCES \`auth_users\`(\`id\`) ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
    await runner.query(
      `ALTER TABLE \`auth_reset_tokens\` ADD CONSTRAINT \`FK_ebdac3f574efe48a8c8332d6d31\` FOREIGN KEY (\`user_id\`) REFERENCES \`auth_users\`(\`id\`) ON DELETE CASCADE ON UPDATE NO ACTION`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE \`auth_reset_tokens\` DROP FOREIGN KEY \`FK_ebdac3f574efe48a8c8332d6d31\``,
    )
    await runner.query(
      `ALTER TABLE \`auth_refresh_tokens\` DROP FOREIGN KEY \`FK_f795ad14f31838e3ddc663ee150\``,
    )
    await runner.query(`DROP INDEX \`IDX_13d8b49e55a8b06bee6bbc828f\` ON \`auth_users\``)
    await runner.query(`DROP TABLE \`auth_users\``)
    await runner.query(`DROP INDEX \`IDX_5086c93f2ea6169e253b004680\` ON \`auth_reset_tokens\``)
    await runner.query(`DROP INDEX \`IDX_ebdac3f574efe48a8c8332d6d3\` ON \`auth_reset_tokens\``)
    await runner.query(`DROP TABLE \`auth_reset_tokens\``)
    await runner.query(`DROP INDEX \`IDX_92dd28fb7e9b33e544fcb70b28\` ON \`auth_refresh_tokens\``)
    await runner.query(`DROP INDEX \`IDX_ece598cfc600e3338004a9efff\` ON \`auth_refresh_tokens\``)
    await runner.query(`DROP INDEX \`IDX_f795ad14f31838e3ddc663ee15\` ON \`auth_refresh_tokens\``)
    await runner.query(`DROP TABLE \`auth_refresh_tokens\``)
    await runner.query(`DROP INDEX \`IDX_de4a0c96606d419b9044c61adf\` ON \`auth_ended_sessions\``)
    await runner.query(`DROP INDEX \`IDX_273d87a4416aa17d3672154aa4\` ON \`auth_ended_sessions\``)
    await runner.query(`DROP TABLE \`auth_ended_sessions\``)
  }
}
