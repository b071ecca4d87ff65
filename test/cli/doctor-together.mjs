// Runs `mortar doctor --json` in several projects, one after another in one process: most of the time of a process each
// would go into loading the same packages again. Arguments: the folder of the built framework, and a JSON list of
// `{ directory, variables }`. Prints a JSON list of `{ code, out }`.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [framework, projects] = process.argv.slice(2)
const chunks = join(framework, 'mortar/dist/chunks')
const file = readdirSync(chunks).find((name) => /^doctor-\w+\.js$/.test(name))
const { doctor } = await import(pathToFileURL(join(chunks, file)).href)
const inherited = { ...process.env }
const plain = (text) => text
const paint = { bold: plain, dim: plain, green: plain, red: plain, yellow: plain }

const results = []
for (const { directory, variables } of JSON.parse(projects)) {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, inherited, variables)
  process.chdir(directory)
  const lines = []
  const terminal = { print: (text) => lines.push(text), note: () => undefined, paint }
  const code = await doctor.run({ values: { json: true }, positionals: [], terminal, directory })
  results.push({ code, out: lines.join('\n') })
}
process.stdout.write(JSON.stringify(results), () => process.exit())
