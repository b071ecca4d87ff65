/** The error of a call that throws, or rejects. @throws Error when it does not fail. */
export async function failureOf(run: () => unknown): Promise<Error & { code?: string }> {
  try {
    await run()
  } catch (error) {
    return error as Error & { code?: string }
  }
  throw new Error('It did not fail.')
}
