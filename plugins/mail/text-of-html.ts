// oxlint-disable-next-line no-control-regex -- it removes control characters
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/**
 * Makes the text part of a mail with HTML only, for readers without HTML and for spam filters. Links are followed by
 * their address, images are left out. The converter is loaded with the first such mail.
 * @returns undefined for HTML that cannot be converted, or without the converter: Node keeps a failed import, such as one
 * without a free file descriptor. The mail is then sent without a text part.
 */
export async function textOfHtml(html: string): Promise<string | undefined> {
  try {
    const { convert } = await import('html-to-text')
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
