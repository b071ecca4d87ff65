import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { routeFilesOf } from '../../files/manifest.ts'
import { scanDirectory } from '../../files/scan-directory.ts'

/**
 * Imports the files of a directory of routes, by default all, in one step, as static imports of one module, so that they are read in
 * parallel and still evaluated in order. With tsx that takes half the time of separate imports. Errors are ignored
 * here: the later import of each file throws them with the file's name.
 */
export async function importTogether(directory: string, given?: readonly string[]): Promise<void> {
  try {
    const files = given ?? routeFilesOf(await scanDirectory(directory))
    const urls = files.map((file) => JSON.stringify(pathToFileURL(join(directory, file)).href))
    await import(`data:text/javascript,${encodeURIComponent(urls.map((url) => `import ${url}`).join('\n'))}`)
  } catch {
    // The import of each file reports this error with the name of the file.
  }
}
