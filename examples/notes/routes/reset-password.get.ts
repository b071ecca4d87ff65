import { createHash } from 'node:crypto'
import { defineRoute } from 'mortar'

const SCRIPT = `
document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault()
  const token = new URLSearchParams(location.search).get('token')
  const password = new FormData(event.target).get('password')
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch('auth/reset-password', { method: 'POST', headers, body: JSON.stringify({ token, password }) })
  const { message, detail, errors } = await answer.json()
  document.querySelector('output').textContent = message ?? errors?.[0].message ?? detail
})`

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Set a new password</title>
<form>
  <h1>Set a new password</h1>
  <p><label>New password <input name="password" type="password" autocomplete="new-password" required minlength="8"></label>
  <button>Set it</button></p>
  <output></output>
</form>
<script>${SCRIPT}</script>
`

const scriptHash = createHash('sha256').update(SCRIPT).digest('base64')

export default defineRoute(
  { summary: 'The page that the link in a reset mail leads to', hidden: true },
  (ctx) => {
    ctx.type = 'html'
    // The URL contains the token, so it is not cached and not sent to other sites.
    ctx.set('Cache-Control', 'no-store')
    ctx.set('Referrer-Policy', 'no-referrer')
    ctx.set(
      'Content-Security-Policy',
      `default-src 'none'; script-src 'sha256-${scriptHash}'; connect-src 'self'; base-uri 'none'`,
    )
    return PAGE
  },
)
