import { posix } from 'node:path'
import { ACCOUNT_SCRIPT } from './page/account-script.ts'
import { ACCOUNT_VIEW_SCRIPT } from './page/account-view-script.ts'
import { SOCKETS_SCRIPT } from './page/sockets-script.ts'
import { NONCE_SCRIPT, START_SCRIPT } from './page/start-script.ts'
import { STYLE } from './page/style.ts'

/** Content of the page and the places of its parts. Paths are those of the application, as routes have them. */
export interface DocsPageInput {
  readonly title: string
  /** Path of the page itself. The others are made relative to it, so that the page works below a prefix. */
  readonly path: string
  readonly documentPath: string
  /** Path of the AsyncAPI document; undefined if the application does not serve it. */
  readonly asyncDocumentPath?: string | undefined
  /** Path of the script of the reference, with its version as the query. */
  readonly scriptPath: string
  /** In production no test users are offered. */
  readonly isProduction: boolean
}

/** The page for one response. */
export interface DocsPage {
  readonly html: string
  readonly contentSecurityPolicy: string
}

/**
 * Renders the documentation page: the API reference of Scalar, and a bar to sign in. Its policy allows scripts and style
 * sheets with the nonce, which must be new for each response, and requests to its own origin only.
 */
export function docsPage(input: DocsPageInput, nonce: string): DocsPage {
  const { title, isProduction } = input
  const [documentUrl, scriptUrl, root] = [input.documentPath, input.scriptPath, '/'].map((path) =>
    relative(input.path, path),
  ) as [string, string, string]
  const script = (content: string): string => `<script nonce="${nonce}">${content}</script>`
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${STYLE}</style>
${script(NONCE_SCRIPT)}
</head>
<body data-document="${escapeHtml(documentUrl)}" data-root="${escapeHtml(root)}" data-production="${isProduction}">
${ACCOUNT_BAR.replace('{title}', () => escapeHtml(title))}
${socketsArea(input)}<div id="reference"><p role="status">Loading the document …</p></div>
<noscript>This page needs JavaScript. The document itself: <a href="${escapeHtml(documentUrl)}">${escapeHtml(documentUrl)}</a></noscript>
<script nonce="${nonce}" src="${escapeHtml(scriptUrl)}"></script>
${script(`'use strict';\n(() => {\n${ACCOUNT_SCRIPT}${ACCOUNT_VIEW_SCRIPT}${SOCKETS_SCRIPT}${START_SCRIPT}})()\n`)}
</body>
</html>
`
  return { html, contentSecurityPolicy: policyOf(nonce) }
}

function socketsArea({ path, asyncDocumentPath }: DocsPageInput): string {
  if (asyncDocumentPath === undefined) return ''
  const url = escapeHtml(relative(path, asyncDocumentPath))
  return `<details id="sockets" data-document="${url}"><summary>Sockets and channels</summary>
<p><a href="${url}">AsyncAPI document</a></p>
<form><select aria-label="Socket or channel"></select><input aria-label="Address" required><button>Connect</button></form>
<form hidden><input aria-label="Message"><button>Send</button><button value="close">Close</button></form>
<pre></pre></details>
`
}

const ACCOUNT_BAR = `<header id="account" hidden>
<span class="title">{title}</span>
<output></output>
<button id="test-user" class="main" type="button">New test user</button>
<button id="log-in" type="button">Log in</button>
<button id="log-out" type="button">Log out</button>
</header>
<dialog id="log-in-dialog" aria-labelledby="log-in-title"><form method="dialog">
<h2 id="log-in-title">Log in</h2>
<p role="alert"></p>
<div class="buttons"><button type="button" value="cancel">Cancel</button><button class="main">Log in</button></div>
</form></dialog>`

/**
 * The reference sets style attributes, which a nonce cannot allow. It makes HTML of Markdown, so Trusted Types are off:
 * a policy that lets every string pass would protect nothing.
 */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    'media-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** `./openapi.json` from `/docs`, and `../openapi.json` from `/api/docs`. */
function relative(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
