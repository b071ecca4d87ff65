import { Client } from 'pg'

/**
 * Runs one statement on a connection of its own.
 * @param {string} connectionString
 * @param {string} text
 * @param {unknown[]} [values]
 * @returns {Promise<void>}
 */
export async function runSql(connectionString, text, values = []) {
  const client = new Client({ connectionString, options: '-c TimeZone=UTC' })
  await client.connect()
  try {
    await client.query(text, values)
  } finally {
    await client.end()
  }
}
