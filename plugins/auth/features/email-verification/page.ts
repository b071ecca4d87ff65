import { createHash } from 'node:crypto'

/** Path of the page below the prefix of the brick. */
export const PAGE_PATH = '/verify-email'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:15vh auto;padding:0 1rem}
h1{font-size:1.4rem}button,input{font:inherit;padding:.5rem .8rem}label,input{display:block;width:100%;box-sizing:border-box}
button{margin-top:1rem}[hidden]{display:none}`

/**
 * Redeems the link by a click: opening the page spends nothing, so a scanner of mails leaves the link valid. The token
 * leaves the address bar first. Paths are relative, so that they have the prefix of the brick.
 */
const SCRIPT = `'use strict'
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
history.replaceState(null, '', location.pathname)
const [form, result, field] = ['form', 'output', 'label'].map((name) => document.querySelector(name))
const post = (path, body, headers) =>
  fetch(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
const signIn = async () => {
  const response = await post('refresh', {})
  return response.ok ? { authorization: 'Bearer ' + (await response.json()).accessToken } : undefined
}
const redeem = async () => {
  if (!field.hidden) return post('verify-email', { token, password: form.password.value })
  const signedIn = await signIn()
  return signedIn && post('verify-email', { token }, signedIn)
}
const show = async (response) => {
  const answer = await response?.json()
  const asks = response === undefined || answer.code === 'invalid_credentials'
  result.textContent = asks && field.hidden ? 'Write the password of the account.' : (answer.message ?? answer.detail)
  if (asks) field.hidden = false
  if (response?.ok || answer?.code === 'invalid_verification_token') form.hidden = true
}
form.addEventListener('submit', (event) => {
  event.preventDefault()
  form.querySelector('button').disabled = true
  redeem().then(show).catch(() => { result.textContent = 'That did not work. Try again shortly.' })
    .finally(() => { form.querySelector('button').disabled = false })
})
`

/** The page of a link. It loads nothing, and is the same for every link. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Confirm your address</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<h1>Confirm your address</h1>
<form>
<label hidden>Password of the account<input name="password" type="password" autocomplete="current-password"></label>
<button>Confirm this address</button>
</form>
<p><output aria-live="polite"></output></p>
<noscript>This page needs JavaScript.</noscript>
<script>${SCRIPT}</script>
</html>
`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Headers of the page. Style and script are allowed by their hash (CSP 3 §2.3.1). */
export const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    `script-src ${hashOf(SCRIPT)}`,
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
} as const
