/** A target of `imports` in package.json: a file, a package, alternatives, or one target for each condition. */
type Target = string | null | readonly Target[] | { readonly [condition: string]: Target }

/**
 * Returns `imports` of package.json for the output: every target that is a TypeScript file becomes the compiled file.
 * Names and conditions stay: `"#lib/*": "./lib/*.ts"` becomes `"#lib/*": "./lib/*.js"`.
 * @param out the output folder, relative to package.json.
 */
export function compiledImports(imports: unknown, out: string): unknown {
  return compiledTarget(imports as Target, out)
}

function compiledTarget(target: Target, out: string): Target {
  if (typeof target === 'string') return compiledFile(target, out)
  if (target === null || typeof target !== 'object') return target
  if (Array.isArray(target)) return target.map((each: Target) => compiledTarget(each, out))
  const entries = Object.entries(target as { readonly [key: string]: Target })
  return Object.fromEntries(entries.map(([key, each]) => [key, compiledTarget(each, out)]))
}

/** A target may already name the output of an earlier build: `./dist/lib/*.js`. */
function compiledFile(file: string, out: string): string {
  if (!file.startsWith('./')) return file
  const own = file.startsWith(`./${out}/`) ? `./${file.slice(out.length + 3)}` : file
  return own.endsWith('.d.ts') ? own : own.replace(/\.([cm]?)ts$/, '.$1js')
}
