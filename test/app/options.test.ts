import { expect } from 'chai'
import { createApp, StartupError, StartupErrors, type AppOptions } from 'mortar'

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
    'an origin with a wildcard, which no page has': { trustedOrigins: ['https://*.example.com'] },
    'a cookie without a name': { tokenCookie: '' },
    'an invalid cookie name': { tokenCookie: 'a;b' },
  }
  for (const [name, options] of Object.entries(wrong))
    it(`are refused with ${name}`, () => {
      expect(() => createApp(options)).to.throw(StartupError, 'MORTAR_OPTION')
    })

  it('are reported in one run, each once: unknown ones, wrong types and values that cannot be read', () => {
    const options = {
      bodyLimt: '1mb',
      logRequests: 'yes',
      environment: 'prod',
      bodyLimit: 'large',
      handlerTimeout: 'soon',
      maxIssues: 0,
      appUrl: 'app.example.com',
      trustedOrigins: ['example'],
      tokenCookie: 'a;b',
      server: { requestTimeout: 'late' },
    } as unknown as AppOptions
    let error: unknown
    try {
      createApp(options)
    } catch (thrown) {
      error = thrown
    }
    expect(error).to.be.instanceOf(StartupErrors)
    const { found, errors } = error as StartupErrors
    expect(found).to.match(/^10 options of createApp\(\) are wrong/)
    const replaced = ['environment', 'server']
    const names = Object.keys(options).filter((name) => !replaced.includes(name))
    for (const name of [...names, "environment 'prod'", 'requestTimeout'])
      expect(
        errors.filter((each) => each.found.includes(name)),
        name,
      ).to.have.length(1)
  })
})
