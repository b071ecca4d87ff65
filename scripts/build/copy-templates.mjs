// Puts what `mortar new` writes into the package: its templates, and the reference application with its configuration, but
// not that one's tests. See src/cli/new/project-files.ts.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.mjs'

const NOT_SHIPPED = /[\\/](test|data|dist|\.framework|README\.md)$/

export function copyTemplates(dist) {
  cpSync(join(ROOT, 'src/cli/new/templates'), join(dist, 'cli/new/templates'), { recursive: true })
  cpSync(join(ROOT, 'examples/notes'), join(dist, 'examples/notes'), {
    recursive: true,
    filter: (source) => !NOT_SHIPPED.test(source.slice(ROOT.length)),
  })
}
