/**
 * The first script of the page. The reference adds style elements, and not all of them with the nonce that the policy
 * asks for. Elements that the parser makes of text are not affected.
 */
export const NONCE_SCRIPT = `'use strict';
(() => {
  const { nonce } = document.currentScript
  const { createElement } = Document.prototype
  Document.prototype.createElement = function (...names) {
    const element = createElement.apply(this, names)
    if (element instanceof HTMLStyleElement) {
      element.nonce = nonce
      Object.defineProperty(element, 'nonce', { get: () => nonce, set: () => undefined })
    }
    return element
  }
})()
`

/** Fetches the document and shows it. What could reach another origin is off. */
export const START_SCRIPT = `
async function start() {
  const { document: address, root } = document.body.dataset
  const response = await fetch(address, { headers: { accept: 'application/json' } })
  if (!response.ok) throw new Error('The document ' + address + ' cannot be loaded: ' + response.status + ' ' + response.statusText)
  const content = await response.json()
  if (typeof Scalar !== 'object') throw new Error('The script of this page cannot be loaded. The document itself: ' + address)
  const account = createAccount(content, new URL(root, location.href))
  document.getElementById('reference').replaceChildren()
  let reference
  const show = () => {
    const configuration = configurationOf(content, account, root)
    if (reference) reference.updateConfiguration(configuration)
    else reference = Scalar.createApiReference('#reference', configuration)
  }
  account.changed = show
  show()
  showSockets(account, content, new URL(root, location.href))
  await account.resume()
}

function configurationOf(content, account, root) {
  return {
    content,
    servers: content.servers || [{ url: new URL(root, location.href).href.replace(/[/]$/, '') }],
    authentication: account.authentication,
    customFetch: account.fetch,
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    persistAuth: false,
  }
}

start().catch((error) => {
  const message = document.createElement('p')
  message.setAttribute('role', 'alert')
  message.textContent = error.message
  document.getElementById('reference').replaceChildren(message)
})
`
