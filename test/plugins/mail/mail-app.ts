import { createApp } from 'mortar'
import { mail, type MailOptions } from '@mortar/mail'

type AppConfig = NonNullable<Parameters<typeof createApp>[0]>

/** An application with only the mail brick. The defaults are the memory transport and a silent log. */
export function mailApp(options: Partial<MailOptions> = {}, config: AppConfig = {}) {
  return createApp({ environment: 'test', logger: false, ...config }).use(
    mail({ from: 'Mortar <hello@example.com>', transport: 'memory', ...options }),
  )
}

/** The same, started. Close it. */
export async function startMailApp(options: Partial<MailOptions> = {}, config: AppConfig = {}) {
  const app = mailApp(options, config)
  await app.ready()
  return app
}

/** Runs `work` with a started application and closes it, also after an error. */
export async function withMailApp<T>(
  options: Partial<MailOptions>,
  work: (app: Awaited<ReturnType<typeof startMailApp>>) => Promise<T>,
): Promise<T> {
  const app = await startMailApp(options)
  try {
    return await work(app)
  } finally {
    await app.close()
  }
}

/** Returns the error with which a promise rejects. */
export async function rejection(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise
  } catch (error) {
    return error as Error & Record<string, unknown>
  }
  throw new Error('It did not reject.')
}
