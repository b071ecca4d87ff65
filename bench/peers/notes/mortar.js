/** The reference application itself, `examples/notes`, compiled and in production, with all its routes and bricks. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { userOfToken } from '../../work/data.js'
import { BUILD, importMortar } from '../../work/mortar-entry.js'

export async function start(database, users) {
  const folder = join(BUILD, 'data/reference/examples/notes')
  const [{ app }, { loadRoutes }] = await Promise.all([
    import(pathToFileURL(join(folder, 'app.js')).href),
    importMortar('mortar'),
  ])
  await loadRoutes(app, join(folder, 'routes'))
  const { port } = await app.listen(0, '127.0.0.1')
  const { authenticator } = app.services
  const tokens = await Promise.all(
    Array.from({ length: users }, (_, index) => {
      const { id, ...raw } = userOfToken(index)
      return authenticator.issueToken({ id, raw: { id, ...raw } })
    }),
  )
  return { port, tokens }
}
