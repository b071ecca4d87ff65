// Draws fenced blocks of the language mermaid when the site is built. The colours are those of the site's theme, in
// light and dark, and nothing is loaded from another server.
import { renderMermaidSVG } from 'beautiful-mermaid'

const COLOURS = {
  bg: 'var(--vp-c-bg)',
  fg: 'var(--vp-c-text-1)',
  muted: 'var(--vp-c-text-2)',
  accent: 'var(--vp-c-brand-1)',
  border: 'var(--vp-c-border)',
  surface: 'var(--vp-c-bg-soft)',
  line: 'var(--vp-c-text-3)',
}

/** A markdown-it plugin. */
export function drawDiagrams(markdown) {
  const fence = markdown.renderer.rules.fence
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest)
    const drawn = renderMermaidSVG(content, { ...COLOURS, font: 'inherit', transparent: true, padding: 8 })
    // The library imports a font from its server.
    const svg = drawn.replaceAll(/@import url\([^)]*\);/g, '').replaceAll(/font-family: [^;]*;/g, '')
    return `<div class="diagram" v-html="${markdown.utils.escapeHtml(JSON.stringify(svg))}"></div>`
  }
}
