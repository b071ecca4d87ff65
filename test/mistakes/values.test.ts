import { expect } from 'chai'
import { withRoutes } from './folder-of-routes.ts'

describe('A value that JSON cannot express', () => {
  it('is named with the route and the path, also under a schema', () =>
    withRoutes(
      {
        'routes/map.get.js': `export { response } from '../shape.js'\nexport default () => ({ m: new Map([['a', 1]]) })\n`,
        'routes/bytes.get.js': `export default () => ({ image: new Uint8Array([1, 2]) })\n`,
        'shape.js': `import { object } from '${import.meta.resolve('yup')}'\nexport const response = { 200: object({ m: object().required() }) }\n`,
      },
      async ({ get }) => {
        expect((await get('/map')).detail).to.match(
          /^The value that GET \/map \(routes\/map\.get\.js\) returned cannot be sent as JSON: m is a Map\./,
        )
        expect((await get('/bytes')).detail).to.match(
          /GET \/bytes .*: image is a Uint8Array\. Return it alone, or as text: .*base64/,
        )
      },
    ))
})
