import { StartupError } from 'mortar'

/** The StartupError of a call that throws or rejects. @throws any other error of the call; Error if it does not fail. */
export async function startupErrorOf(work: () => unknown): Promise<StartupError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof StartupError) return error
    throw error
  }
  throw new Error('No StartupError was thrown.')
}
