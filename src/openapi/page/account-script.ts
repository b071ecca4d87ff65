/**
 * Signs in from the page. The extension `x-sign-in` of a security scheme names the operations, so this knows no provider.
 * The token is in memory only. After a reload the provider's refresh operation gives a new one, if it has one.
 */
export const ACCOUNT_SCRIPT = `
const SIGNED_IN = 'mortar.docs.signed-in'

function createAccount(content, root) {
  const schemes = Object.entries((content.components || {}).securitySchemes || {})
  const [name, scheme] = schemes.find((entry) => entry[1]['x-sign-in']) || []
  const hint = (scheme && scheme['x-sign-in']) || {}
  const operations = namedOperations(content, hint.operations || {})
  const account = {
    token: undefined,
    who: undefined,
    expires: Infinity,
    changed: () => undefined,
    get authentication() {
      const preferred = name || (schemes[0] || [])[0]
      if (!preferred) return undefined
      return { preferredSecurityScheme: preferred, securitySchemes: name ? { [name]: { token: account.token || '' } } : {} }
    },
  }

  function signIn(body) {
    const token = at(body, hint.token)
    if (typeof token !== 'string') return
    account.token = token
    account.who = at(body, hint.name) || account.who
    const seconds = at(body, hint.expiresIn)
    account.expires = typeof seconds === 'number' ? Date.now() + seconds * 1000 : Infinity
    sessionStorage.setItem(SIGNED_IN, account.who || '')
    update()
  }

  function signOut() {
    if (account.token === undefined && sessionStorage.getItem(SIGNED_IN) === null) return
    Object.assign(account, { token: undefined, who: undefined, expires: Infinity })
    sessionStorage.removeItem(SIGNED_IN)
    update()
  }

  function update() {
    account.changed()
    account.render && account.render()
  }

  async function call(key, body) {
    const operation = operations[key]
    const headers = { accept: 'application/json' }
    if (account.token) headers.authorization = 'Bearer ' + account.token
    if (body) headers['content-type'] = 'application/json'
    const response = await fetch(urlOf(operation), {
      method: operation.method,
      headers,
      body: body && JSON.stringify(body),
    })
    const result = await response.json().catch(() => undefined)
    if (!response.ok) throw new Error(problemText(result) || response.status + ' ' + response.statusText)
    return result
  }

  const urlOf = (operation) => new URL('.' + operation.path, root)

  function operationOf(request) {
    const { pathname } = new URL(request.url)
    return Object.keys(operations).find(
      (key) => operations[key].method === request.method && urlOf(operations[key]).pathname === pathname,
    )
  }

  async function refresh() {
    signIn(await call('refresh'))
  }

  Object.assign(account, {
    hint,
    operations,
    call,
    signIn,
    signOut,
    /** Sends a request of the reference. A response with a token signs in, and an expired token is refreshed first. */
    async fetch(input, init) {
      let request = new Request(input, init)
      const sent = request.headers.get('authorization')
      const isOwn = account.token !== undefined && sent === 'Bearer ' + account.token
      if (isOwn && operations.refresh && Date.now() > account.expires - 5000) {
        await refresh().catch(signOut)
        request = new Request(request)
        if (account.token) request.headers.set('authorization', 'Bearer ' + account.token)
      }
      const response = await fetch(request)
      const key = operationOf(request)
      if (!key || !response.ok) return response
      if (key === 'logOut') signOut()
      else response.clone().json().then(signIn, () => undefined)
      return response
    },
    async resume() {
      const who = sessionStorage.getItem(SIGNED_IN)
      if (name === undefined) return
      showAccount(account, content)
      if (who === null || !operations.refresh) return
      account.who = who
      await refresh().catch(signOut)
    },
  })
  return account
}

function namedOperations(content, names) {
  const found = {}
  for (const [path, item] of Object.entries(content.paths || {}))
    for (const [method, operation] of Object.entries(item))
      for (const [key, id] of Object.entries(names))
        if (operation && operation.operationId === id) found[key] = { path, method: method.toUpperCase(), operation }
  return found
}

function at(value, keys) {
  if (typeof keys !== 'string') return undefined
  return keys.split('.').reduce((part, key) => (part === undefined || part === null ? undefined : part[key]), value)
}

function problemText(problem) {
  if (!problem) return undefined
  const issues = (problem.errors || []).map((issue) => issue.message || issue.detail).filter(Boolean)
  return issues.join(' ') || problem.detail || problem.title
}
`
