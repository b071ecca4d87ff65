import { createRouter, type Context, type Router } from 'mortar'
import type { ConnectedLibrary } from './connected-library.ts'
import { toWebRequest } from './web-request.ts'

/**
 * Makes the library's routes: every request below its base path goes to its handler, with the body unread. They are not
 * in the OpenAPI document, because only the library knows them.
 */
export function libraryRoutes(bodyLimit: number): Router {
  const router = createRouter({ hidden: true })
  const answer = (ctx: Context): Promise<Response> => answerByLibrary(ctx, bodyLimit)
  for (const add of [router.get, router.post, router.put, router.patch, router.delete])
    add('/*path', { consumes: [] }, answer)
  return router
}

async function answerByLibrary(ctx: Context, bodyLimit: number): Promise<Response> {
  // These routes are mounted only by the brick that registers this service, and only for a provider of this kind.
  const { library } = ctx.services['authProvider'] as ConnectedLibrary
  const response = await library.handler(await toWebRequest(ctx, bodyLimit))
  // Responses about an account are not cached, unless the library sets the header itself.
  ctx.set('Cache-Control', 'no-store')
  return response
}
