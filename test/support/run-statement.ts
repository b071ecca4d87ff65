import { type ConnectionOptions, createDataSource, openDataSource } from '@mortar/database'

/** Runs one statement on a connection of its own, such as one that creates or drops a database. */
export async function runStatement(options: ConnectionOptions, sql: string): Promise<unknown> {
  const connection = createDataSource(options)
  await openDataSource(connection)
  try {
    return await connection.query(sql)
  } finally {
    await connection.destroy()
  }
}

/** Returns the URL of a database on the server of `url`. */
export function withDatabase(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href
}
