// Puts the API reference of Scalar into the package for the documentation page, so that an application installs no
// front-end package. The file is in @scalar/fastify-api-reference: @scalar/api-reference has the same one and brings 270
// packages. It is compressed once, here, with Brotli: quality 11 makes it 10 % smaller and takes eight times as long.
// The argument is the folder of the compiled files; dist by default.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const ROOT = join(import.meta.dirname, '..')
const TARGET = join(resolve(process.argv[2] ?? join(ROOT, 'dist')), 'vendor/scalar')
const NAME = '@scalar/fastify-api-reference'
const ENTRY = createRequire(import.meta.url).resolve(NAME)
const SOURCE = dirname(dirname(ENTRY))

const { version, license } = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8'))
mkdirSync(TARGET, { recursive: true })
// Tools that list licences and versions find the copy by this file.
const manifest = {
  name: '@scalar/api-reference',
  version,
  license,
  homepage: 'https://github.com/scalar/scalar',
}
writeFileSync(join(TARGET, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
cpSync(join(SOURCE, 'LICENSE'), join(TARGET, 'LICENSE'))
writeFileSync(join(TARGET, 'scalar.js.br'), compressed(await readBundle()))

/** The plugin serves the file under a path of its own; this reads what it would send. */
async function readBundle() {
  const { default: plugin } = await import(NAME)
  const routes = []
  const fastify = { initialConfig: {}, route: (route) => routes.push(route) }
  plugin(fastify, { configuration: { url: '/openapi.json' } }, () => undefined)
  const reply = { header: () => reply, send: (body) => body }
  const bundle = routes.find(({ url }) => url.endsWith('.js'))?.handler({}, reply)
  if (typeof bundle !== 'string' || !bundle.includes('createApiReference'))
    throw new Error(`${NAME} ${version} does not serve its script as expected.`)
  return bundle
}

function compressed(bundle) {
  const bytes = Buffer.from(bundle)
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
  return brotliCompressSync(bytes, {
    params: { [BROTLI_PARAM_QUALITY]: 9, [BROTLI_PARAM_SIZE_HINT]: bytes.length },
  })
}
