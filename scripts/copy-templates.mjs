// Puts what `mortar new` writes into the package, in the layout of the repository: its templates, and the reference
// application with its configuration. See src/cli/new/project-files.ts.
import { cpSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const NOT_SHIPPED = /[\\/](test|data|dist|\.framework|README\.md)$/

for (const path of ['src/cli/new/templates', 'config', 'examples/notes'])
  cpSync(join(ROOT, path), join(ROOT, 'dist', path), {
    recursive: true,
    // The tests of the templates are shipped, as they are written; those of the reference application are not.
    filter: (source) => path.startsWith('src/') || !NOT_SHIPPED.test(source),
  })
