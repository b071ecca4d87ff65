import { createHash } from 'node:crypto'
import { createRouter, type Context, type Router } from 'mortar'
import { noStore } from '../routes/auth-router.ts'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:15vh auto;padding:0 1rem}
h1{font-size:1.4rem}button,input{font:inherit;padding:.5rem .8rem}label,input{display:block;width:100%;box-sizing:border-box}
button{margin-top:1rem}[hidden]{display:none}`

/** A page that a link of a mail opens. Nothing of it comes from a user. */
export interface LinkPage {
  /** Path below the prefix of the brick. */
  readonly path: string
  readonly title: string
  readonly button: string
  /** Fields of the form, as HTML. */
  readonly fields?: string
  /** Sends the token of the page to the server, with `post(path, body)`. @returns the response, in JavaScript. */
  readonly redeem: string
  /** Shows the response: `response`, and the elements `form`, `result` and `field`, in JavaScript. */
  readonly show: string
}

/** Shows the message of a response, and hides the button once the link is used up. */
export const SHOW_MESSAGE = `const answer = await response.json()
  result.textContent = answer.message ?? answer.detail
  if (response.ok || response.status === 401) form.hidden = true`

/**
 * Spends a link by a click: opening the page spends nothing, so a scanner of mails leaves the link valid. The token leaves
 * the address bar first. Paths are relative, so that they have the prefix of the brick.
 */
const scriptOf = ({ redeem, show }: LinkPage) => `'use strict'
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
history.replaceState(null, '', location.pathname)
const [form, result, field] = ['form', 'output', 'label'].map((name) => document.querySelector(name))
const post = (path, body, headers) =>
  fetch(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
${redeem}
const show = async (response) => {
  ${show}
}
form.addEventListener('submit', (event) => {
  event.preventDefault()
  form.querySelector('button').disabled = true
  redeem().then(show).catch(() => { result.textContent = 'That did not work. Try again shortly.' })
    .finally(() => { form.querySelector('button').disabled = false })
})
`

const htmlOf = ({ title, button, fields = '' }: LinkPage, script: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<h1>${title}</h1>
<form>
${fields}<button>${button}</button>
</form>
<p><output aria-live="polite"></output></p>
<noscript>This page needs JavaScript.</noscript>
<script>${script}</script>
</html>
`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Headers of a page. Style and script are allowed by their hash (CSP 3 §2.3.1). */
const headersOf = (script: string) => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    `script-src ${hashOf(script)}`,
    "connect-src 'self'",
    'img-src data:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Cross-Origin-Opener-Policy': 'same-origin',
})

/** Creates the router of a page. The page loads nothing, and is the same for every link. */
export function linkPageRouter(page: LinkPage): Router {
  const script = scriptOf(page)
  const html = htmlOf(page, script)
  const headers = Object.entries(headersOf(script))
  return createRouter({ hidden: true })
    .use(noStore)
    .get(page.path, (ctx: Context) => {
      for (const [name, value] of headers) ctx.set(name, value)
      ctx.type = 'text/html; charset=utf-8'
      return html
    })
}
