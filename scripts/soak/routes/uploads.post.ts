import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { defineRoute, file } from 'mortar'
import { object } from 'yup'

/** Returns the digest of an uploaded file, which the soak compares with its own. */
export default defineRoute(
  { body: object({ content: file({ maxSize: '2mb' }).required() }), bodyLimit: '3mb' },
  async (ctx) => {
    const hash = createHash('sha256')
    await pipeline(createReadStream(ctx.body.content.filepath), hash)
    return { size: ctx.body.content.size, sha256: hash.digest('hex') }
  },
)
