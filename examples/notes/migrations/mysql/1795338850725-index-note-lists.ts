import type { MigrationInterface, QueryRunner } from 'typeorm'

export class IndexNoteLists1795338850725 implements MigrationInterface {
  readonly name = 'IndexNoteLists1795338850725'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX \`IDX_4125a7ca2eddb46d792fd0e586\` ON \`notes\` (\`owner_id\`, \`archived\`, \`created_at\`, \`id\`)`,
    )
    await runner.query(`DROP INDEX \`IDX_70b230da01866b2a511b2d659e\` ON \`notes\``)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX \`IDX_70b230da01866b2a511b2d659e\` ON \`notes\` (\`owner_id\`, \`created_at\`)`,
    )
    await runner.query(`DROP INDEX \`IDX_4125a7ca2eddb46d792fd0e586\` ON \`notes\``)
  }
}
