import { expect } from 'chai'
import { createApp, StartupError, type AppOptions } from 'mortar'

describe('The options of createApp', () => {
  const wrong: Readonly<Record<string, AppOptions>> = {
    'an environment that does not exist': { environment: 'prod' as 'production' },
    'an invalid size': { bodyLimit: 'large' },
    'an invalid duration': { shutdownTimeout: 'soon' },
    'an address without its scheme': { appUrl: 'app.example.com' },
    'an address of another scheme': { appUrl: 'ftp://app.example.com' },
    'an address with a query, in which links would lose their path': {
      appUrl: 'https://app.example.com?a=1',
    },
    'an invalid origin': { trustedOrigins: ['example'] },
    'a cookie without a name': { tokenCookie: '' },
    'an invalid cookie name': { tokenCookie: 'a;b' },
  }
  for (const [name, options] of Object.entries(wrong))
    it(`are refused with ${name}`, () => {
      expect(() => createApp(options)).to.throw(StartupError, 'MORTAR_OPTION')
    })
})
