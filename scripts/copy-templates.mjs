// Puts what `mortar new` writes into the package, in the layout of the repository: its templates, and the reference
// application with its configuration, but not that one's tests. See src/cli/new/project-files.ts. The argument is the
// folder of the compiled files; dist by default.
import { cpSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const TARGET = resolve(process.argv[2] ?? join(ROOT, 'dist'))
const NOT_SHIPPED = /[\\/](test|data|dist|\.framework|README\.md)$/

cpSync(join(ROOT, 'src/cli/new/templates'), join(TARGET, 'src/cli/new/templates'), { recursive: true })
cpSync(join(ROOT, 'examples/notes'), join(TARGET, 'examples/notes'), {
  recursive: true,
  filter: (source) => !NOT_SHIPPED.test(source.slice(ROOT.length)),
})
