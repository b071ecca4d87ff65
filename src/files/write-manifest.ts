/**
 * Returns the source text of the manifest of a directory of routes, for the folder `.framework` beside it. The text has
 * relative paths only and is the same on every machine.
 * @param name name of the directory: `routes`.
 * @param files route and middleware files relative to it, in code-unit order.
 */
export function renderManifest(name: string, files: readonly string[]): string {
  const imports = files.map((file, index) => `import * as module${index} from ${quote(`../${name}/${file}`)}`)
  const entries = files.map(
    (file, index) => `  ${quote(file)}: module${index} satisfies CheckedModule<typeof module${index}>,`,
  )
  return `// Written by \`mortar build\` from ../${name}; the next build writes it again.
import { type CheckedModule, registerModules, type RouteSink } from 'mortar'
${imports.join('\n')}

export const modules = {
${entries.join('\n')}
}

/** Adds the routes of ../${name} to an application. */
export function registerRoutes(app: RouteSink): void {
  registerModules(app, new URL(${quote(`../${name}`)}, import.meta.url), modules)
}
`
}

/** File names may contain quotes. */
function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
