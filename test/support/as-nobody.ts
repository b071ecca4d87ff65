/** The user `nobody` of Linux and macOS, as far as the number matters here. */
const NOBODY = 65_534

/** Runs work as a user to whom permissions apply: root may read and write everything. */
export async function asNobody<T>(work: () => T | Promise<T>): Promise<T> {
  const own = process.geteuid!()
  if (own === 0) process.seteuid!(NOBODY)
  try {
    return await work()
  } finally {
    process.seteuid!(own)
  }
}
