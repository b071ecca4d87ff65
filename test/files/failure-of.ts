/** The reason for which a promise is rejected; fails when it is not. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('expected a failure')
}
