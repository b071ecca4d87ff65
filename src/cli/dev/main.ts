import { serveForDevelopment } from './serve-for-development.ts'

/** Entry point of the process that `mortar dev` starts. Its argument is the options of the command as JSON. */
try {
  await serveForDevelopment(JSON.parse(process.argv[2] ?? '{}') as Record<string, string>)
} catch (error) {
  const foreseen = error instanceof Error && error.name === 'StartupError'
  process.stderr.write(`${foreseen ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  // Parts that had already started would keep the process running.
  process.exit(1)
}
