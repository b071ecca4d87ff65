import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { routeFilesOf } from '../../files/manifest.ts'
import { scanDirectory } from '../../files/scan-directory.ts'

/**
 * Imports the files of a directory of routes in one step, as static imports of one module, so that they are read side by
 * side and still evaluated in their order: with tsx that takes half the time of one after the other. Whatever fails is
 * left to the one who imports them by themselves and can say which it was.
 */
export async function importTogether(directory: string): Promise<void> {
  try {
    const files = routeFilesOf(await scanDirectory(directory))
    const urls = files.map((file) => JSON.stringify(pathToFileURL(join(directory, file)).href))
    await import(`data:text/javascript,${encodeURIComponent(urls.map((url) => `import ${url}`).join('\n'))}`)
  } catch {
    // Said with its file by the import of each.
  }
}
