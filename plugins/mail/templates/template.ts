import type { Infer, MailMessage, Schema } from 'mortar'
import type { Markup } from '../markup.ts'

const TEMPLATE = Symbol.for('mortar.mail.template')
const TRANSLATION = Symbol.for('mortar.mail.translation')
declare const DATA: unique symbol

/** The parts of a template, of which at least one of `text` and `html` exists. */
export interface TemplateParts<Data> {
  readonly subject: string | ((data: Data) => string)
  /** By default, the text is made of the HTML. */
  readonly text?: (data: Data) => string
  /** Markup that the tag `html` has made. */
  readonly html?: (data: Data) => Markup
}

/** A mail with typed data: the default export of a file in the directory of templates. */
export interface MailTemplate<Data = unknown> {
  readonly [TEMPLATE]: true
  /** Carries the type of the data; no value has this key. */
  readonly [DATA]?: (data: Data) => void
  readonly parts: TemplateParts<never>
  readonly data: Schema | undefined
  readonly sample: unknown
}

/** A template in another locale: the default export of a file such as `welcome.de.ts`. */
export interface MailTranslation {
  readonly [TRANSLATION]: true
  readonly template: MailTemplate<never>
  readonly parts: TemplateParts<never>
}

/** The message of a template: recipients and data, and the locale of the reader, such as `de` or `pt-BR`. */
export type TemplateMessage<Data> = Omit<MailMessage, 'subject' | 'text' | 'html'> & {
  readonly locale?: string | undefined
} & (undefined extends Data ? { readonly data?: Data } : { readonly data: Data })

/**
 * Defines a mail with data that a yup schema or a Standard Schema validator describes. `sample` is shown on the
 * development page, and is rendered at each start, which therefore finds broken templates.
 */
export function mailTemplate<S extends Schema>(
  definition: TemplateParts<Infer<S>> & { readonly data: S; readonly sample: Infer<S> },
): MailTemplate<Infer<S>>
/** Defines a mail without data. */
export function mailTemplate(definition: TemplateParts<undefined>): MailTemplate<undefined>
export function mailTemplate({
  data,
  sample,
  ...parts
}: TemplateParts<never> & { readonly data?: Schema; readonly sample?: unknown }): MailTemplate<never> {
  return { [TEMPLATE]: true, parts, data, sample }
}

/** Defines a template in the locale of the file's suffix: `mailTranslation(welcome, { subject, text, html })`. */
export function mailTranslation<Data>(
  template: MailTemplate<Data>,
  parts: TemplateParts<Data>,
): MailTranslation {
  return { [TRANSLATION]: true, template, parts }
}

/** True for a result of `mailTemplate`, also from another copy of the package. */
export function isTemplate(value: unknown): value is MailTemplate {
  return typeof value === 'object' && value !== null && TEMPLATE in value
}

/** True for a result of `mailTranslation`. */
export function isTranslation(value: unknown): value is MailTranslation {
  return typeof value === 'object' && value !== null && TRANSLATION in value
}
