import type { MailMessage } from 'mortar'
import { brokenRules, compileValidator, Invalid } from 'mortar/kit'
import { MailError } from '../mail-error.ts'
import { Markup } from '../markup.ts'
import type { MailTemplate, TemplateParts } from './template.ts'

/**
 * Validates the data of a template and renders its parts.
 * @throws MailError `MAIL_INVALID_MESSAGE` without a value of the data, and what a function of the template throws.
 */
export async function renderParts(
  { subject, text, html }: TemplateParts<never>,
  { data: schema }: MailTemplate<never>,
  given: unknown,
): Promise<Pick<MailMessage, 'subject' | 'text' | 'html'>> {
  const data = (schema === undefined ? undefined : await validated(schema, given)) as never
  const markup = html?.(data)
  if (text === undefined && html === undefined) throw invalid('its template has neither `text` nor `html`')
  // A string would not be escaped.
  if (markup !== undefined && !(markup instanceof Markup))
    throw invalid('the function `html` of its template has not returned markup of the tag html``')
  return {
    subject: typeof subject === 'function' ? subject(data) : subject,
    ...(text !== undefined && { text: text(data) }),
    ...(markup !== undefined && { html: markup.toString() }),
  }
}

async function validated(schema: NonNullable<MailTemplate['data']>, given: unknown): Promise<unknown> {
  const result: unknown = await compileValidator(schema, 'body').validate(given)
  if (!(result instanceof Invalid)) return result
  throw invalid(`the data of its template is invalid: ${brokenRules(result)}`)
}

function invalid(what: string): MailError {
  return new MailError('MAIL_INVALID_MESSAGE', `The mail was not sent: ${what}.`)
}
