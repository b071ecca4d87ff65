import { serveForDevelopment } from './serve-for-development.ts'

/** The process that `mortar dev` starts; its argument is the options of the command as JSON. */
try {
  await serveForDevelopment(JSON.parse(process.argv[2] ?? '{}') as Record<string, string>)
} catch (error) {
  const foreseen = error instanceof Error && error.name === 'StartupError'
  process.stderr.write(`${foreseen ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  // What had started holds the process otherwise.
  process.exit(1)
}
