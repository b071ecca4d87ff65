// The site of the documentation: the Markdown files of the repository, with a search that works without network.
// `npm run docs` builds it.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { drawDiagrams } from '../diagrams.mjs'
import { addressOf, anchorOf, linkTo, rewriteLinks } from '../links.mjs'
import { navigation, sitePages } from '../navigation.mjs'

const ROOT = join(import.meta.dirname, '../../..')
const pages = sitePages()
/** The other groups are closed until one of their pages is shown. */
const OPEN = new Set(['Start', 'Guides', 'Routes'])
const folders = new Set(pages.map((path) => path.split('/')[0]))

export default defineConfig({
  title: 'Mortar',
  description: 'An HTTP application framework for Node in TypeScript, on Koa',
  lang: 'en',
  // Browsers ask for /favicon.ico otherwise.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: ROOT,
  srcExclude: [
    ...readdirSync(ROOT).flatMap((name) => (folders.has(name) ? [] : [name, `${name}/**`])),
    'docs/contributing/**',
  ],
  rewrites: Object.fromEntries(pages.map((path) => [path, addressOf(path)])),
  outDir: join(import.meta.dirname, '../dist'),
  cacheDir: join(import.meta.dirname, '../node_modules/.vitepress'),
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    anchor: { slugify: anchorOf },
    config(markdown) {
      rewriteLinks(markdown, { root: ROOT, pages })
      drawDiagrams(markdown)
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        detailedView: true,
        // A code such as MORTAR_LISTEN is one word.
        miniSearch: { options: { tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u) } },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: linkTo('docs/getting-started.md') },
      { text: 'Concepts', link: linkTo('docs/concepts.md') },
      { text: 'Exports', link: linkTo('docs/reference/README.md') },
      { text: 'Troubleshooting', link: linkTo('docs/troubleshooting.md') },
    ],
    sidebar: navigation().map((group) => ({
      text: group.title,
      collapsed: !OPEN.has(group.title),
      items: group.pages.map(({ title, path }) => ({ text: title, link: linkTo(path) })),
    })),
    socialLinks: [{ icon: 'github', link: 'https://github.com/mortar-framework/mortar' }],
  },
})
