// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/**
 * The text part of a mail that has HTML only, for readers without HTML and for spam filters: links with their address
 * behind them, images left out. The converter is loaded with the first such mail.
 * @returns undefined for HTML that it cannot read; the mail goes without a text part then.
 */
export async function textOfHtml(html: string): Promise<string | undefined> {
  const { convert } = await import('html-to-text')
  try {
    const text = convert(html, {
      wordwrap: false,
      limits: { maxDepth: 200 },
      selectors: [
        { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
        { selector: 'img', format: 'skip' },
        ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
          selector,
          options: { uppercase: false },
        })),
      ],
    })
    return text.replaceAll(CONTROL, '')
  } catch {
    return undefined
  }
}
