import { createHash } from 'node:crypto'
import { DOM_SCRIPT } from './page/dom-script.ts'
import { PAGE_SCRIPT } from './page/page-script.ts'
import { SCHEMA_SCRIPT } from './page/schema-script.ts'
import { STYLE } from './page/style.ts'
import { TRY_SCRIPT } from './page/try-script.ts'

/** The page and the `Content-Security-Policy` value for its response. */
export interface DocsPage {
  readonly html: string
  readonly contentSecurityPolicy: string
}

const SCRIPT = `'use strict';\n(() => {\n${DOM_SCRIPT}${SCHEMA_SCRIPT}${TRY_SCRIPT}${PAGE_SCRIPT}})()\n`

/**
 * Renders the documentation page: one self-contained HTML file that fetches the document from `documentUrl` (same
 * origin) and shows it. The policy allows the page's script and style by their hashes and requests to its own origin.
 * It forbids HTML made from strings (Trusted Types), so text of the document cannot become markup.
 */
export function docsPage({ title, documentUrl }: { title: string; documentUrl: string }): DocsPage {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body data-document="${escapeHtml(documentUrl)}">
<a class="skip" href="#operations">Skip to the operations</a>
<header id="top"><h1>${escapeHtml(title)}</h1></header>
<nav id="contents" aria-label="Operations"></nav>
<main id="operations" tabindex="-1"><p id="state" role="status">Loading the document …</p></main>
<noscript><p>This page needs JavaScript. The document itself: <a href="${escapeHtml(documentUrl)}">${escapeHtml(documentUrl)}</a></p></noscript>
<script>${SCRIPT}</script>
</body>
</html>
`
  return { html, contentSecurityPolicy: POLICY }
}

const POLICY = [
  "default-src 'none'",
  `script-src ${hashSource(SCRIPT)}`,
  `style-src ${hashSource(STYLE)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** CSP 3 §2.3.1: the hash covers every byte between the tags. */
function hashSource(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
