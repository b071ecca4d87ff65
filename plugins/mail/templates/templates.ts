import { MailError } from '../mail-error.ts'
import type { OutboxMessage } from '../outbox.ts'
import { loadTemplates, type LoadedTemplate } from './load-templates.ts'
import { renderParts } from './render.ts'
import type { MailTemplate, TemplateMessage } from './template.ts'

/** The templates of an application. */
export type Templates = ReturnType<typeof createTemplates>

/** Beginning of the id under which the development page shows a template. */
export const SAMPLE = 'template:'

/** The templates of the development page. */
export interface Samples {
  /** Names of the files: `welcome`, `welcome.de`. */
  names(): readonly string[]
  /** Returns a template with its sample as it would be sent; undefined for an unknown name. */
  open(name: string): Promise<OutboxMessage | undefined>
}

/** Creates the templates of a directory, if there is one. */
export function createTemplates(directory: string | URL | undefined) {
  let files: readonly LoadedTemplate[] = []
  let loading: Promise<readonly LoadedTemplate[]> | undefined
  const load = (): Promise<readonly LoadedTemplate[]> =>
    (loading ??= Promise.resolve(directory === undefined ? [] : loadTemplates(directory)).then(
      (all) => (files = all),
    ))
  return {
    /** Loads the directory, once. @throws StartupErrors */
    load,
    /** The loaded files. */
    get files() {
      return files
    },
    /** @throws MailError `MAIL_INVALID_MESSAGE` for invalid data, and for a template that is not in the directory. */
    async render(template: MailTemplate<never>, { data, locale, ...message }: TemplateMessage<unknown>) {
      const own = (await load()).filter((file) => file.template === template)
      if (own.length === 0) throw new MailError('MAIL_INVALID_MESSAGE', NOT_LOADED)
      const { parts } = inLocale(own, locale)
      return { ...message, ...(await renderParts(parts, template, data)) }
    },
    /** Renders a file with its sample; undefined for an unknown name. */
    async sample(name: string) {
      const file = (await load()).find((each) => each.name === name)
      return file && renderParts(file.parts, file.template, file.template.sample)
    },
  }
}

const NOT_LOADED =
  'The mail was not sent: its template is not in the directory of templates. Pass mail({ templates }), and import the template from its file there.'

/** Selects `de-AT`, else `de`, else the file without a suffix. */
function inLocale(files: readonly LoadedTemplate[], wanted = ''): LoadedTemplate {
  const tags = wanted.toLowerCase().split(/[-_]/)
  for (let length = tags.length; length > 0; length--) {
    const tag = tags.slice(0, length).join('-')
    const found = files.find(({ locale }) => locale?.toLowerCase() === tag)
    if (found !== undefined) return found
  }
  return files.find(({ locale }) => locale === undefined)!
}
