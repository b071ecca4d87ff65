// Links of the Markdown files lead to other files of the repository. On the site they lead to its pages, and to GitHub
// for files that are not pages.
import { existsSync } from 'node:fs'
import { dirname, posix, relative, resolve, sep } from 'node:path'

const SOURCES = 'https://github.com/mortar-framework/mortar/blob/main'

/**
 * The file of a page below the folder of the site: `docs/cli.md` is cli.md, an index is the index.md of its folder, and
 * the README of a brick is options/NAME.md.
 */
export function addressOf(path) {
  const brick = /^plugins\/(.+)\/README\.md$/.exec(path)?.[1]
  if (brick) return `options/${brick}.md`
  return path.replace(/^docs\//, '').replace(/README\.md$/, 'index.md')
}

/** The address of a page in a browser, from the base of the site: `/cli`, `/reference/`. */
export function linkTo(path) {
  return `/${addressOf(path).replace(/(?:index)?\.md$/, '')}`
}

/**
 * A markdown-it plugin that changes the targets of links.
 *
 * @param {{ root: string, pages: readonly string[] }} site The root of the repository, and the pages as paths from it.
 * @throws Error for a link to a file that does not exist; the build fails.
 */
export function rewriteLinks(markdown, { root, pages }) {
  markdown.core.ruler.push('links_of_the_repository', ({ tokens, env }) => {
    const file = env.realPath ?? env.path
    for (const { children } of tokens)
      for (const token of children ?? [])
        if (token.type === 'link_open') token.attrSet('href', targetOf(token.attrGet('href'), file))
  })

  function targetOf(href, file) {
    if (/^(?:[a-z][a-z\d+.-]*:|#|\/)/i.test(href)) return href
    const [path, anchor] = href.split('#')
    const target = resolve(dirname(file), decodeURIComponent(path))
    const name = relative(root, target).split(sep).join(posix.sep)
    if (!existsSync(target))
      throw new Error(`${relative(root, file)} links to ${name}, which does not exist.`)
    const address = pages.includes(name) ? linkTo(name) : `${SOURCES}/${name}`
    return anchor === undefined ? address : `${address}#${anchor}`
  }
}

/** The anchor of a heading as GitHub makes it, so that links with anchors work in both places. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
