// Puts the API reference of Scalar into the package for the documentation page, so that an application installs no
// front-end package. The file is in @scalar/fastify-api-reference: @scalar/api-reference has the same one and brings 270
// packages. Only the file is read, so package.json overrides the dependencies of the plugin, which want a newer Node, with
// a package that is there anyway.
// It is compressed once, here, with Brotli: quality 11 makes it 10 % smaller and takes eight times as long.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, constants } from 'node:zlib'

const NAME = '@scalar/fastify-api-reference'
const ENTRY = createRequire(import.meta.url).resolve(NAME)
const SOURCE = dirname(dirname(ENTRY))

export function vendorScalar(dist) {
  const { version, license } = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8'))
  const target = join(dist, 'vendor/scalar')
  mkdirSync(target, { recursive: true })
  // Tools that list licences and versions find the copy by this file.
  const manifest = {
    name: '@scalar/api-reference',
    version,
    license,
    homepage: 'https://github.com/scalar/scalar',
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(join(SOURCE, 'LICENSE'), join(target, 'LICENSE'))
  writeFileSync(join(target, 'scalar.js.br'), compressed(readBundle(version)))
}

/** The plugin has its script as a string. */
function readBundle(version) {
  const line = readFileSync(ENTRY, 'utf8')
    .split('\n')
    .find((text) => text.startsWith('var standalone_default = "'))
  const bundle = line && runInNewContext(`${line}; standalone_default`)
  if (typeof bundle !== 'string' || !bundle.includes('createApiReference'))
    throw new Error(`${NAME} ${version} does not contain its script as expected.`)
  return bundle
}

function compressed(bundle) {
  const bytes = Buffer.from(bundle)
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
  return brotliCompressSync(bytes, {
    params: { [BROTLI_PARAM_QUALITY]: 9, [BROTLI_PARAM_SIZE_HINT]: bytes.length },
  })
}
