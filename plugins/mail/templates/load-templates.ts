import { StartupErrors, type StartupError } from 'mortar'
import { importFolder, type FolderFile } from 'mortar/kit'
import { fault } from '../startup-codes.ts'
import { renderParts } from './render.ts'
import { isTemplate, isTranslation, type MailTemplate, type TemplateParts } from './template.ts'

/** A template of a file in one locale. */
export interface LoadedTemplate extends FolderFile {
  readonly template: MailTemplate<never>
  readonly parts: TemplateParts<never>
  /** Undefined for the file without a suffix. */
  readonly locale: string | undefined
}

/**
 * Imports the templates of a folder and renders each with its sample.
 * @throws StartupErrors with every fault of every file, and StartupError `MORTAR_MAIL_DIRECTORY`.
 */
export async function loadTemplates(directory: string | URL): Promise<readonly LoadedTemplate[]> {
  const { folder, found, problems } = await importFolder(directory, {
    of: 'directory of mail templates',
    fault: (kind, text, options) =>
      fault(kind === 'file' ? 'MORTAR_MAIL_TEMPLATE' : 'MORTAR_MAIL_DIRECTORY', text, options),
    read: readFile,
  })
  const checks = await Promise.all(found.map((file) => problemOf(file, found)))
  const all = [...problems, ...checks.filter((problem) => problem !== undefined)]
  if (all.length > 0)
    throw new StartupErrors(`${all.length} findings in the mail templates of ${folder}:`, all)
  return found
}

const LOCALE = /^(?<base>.+)\.(?<locale>[a-z]{2,3}(?:-[a-z\d]{2,8})*)$/i

function readFile(value: unknown, file: FolderFile): LoadedTemplate {
  const { locale } = LOCALE.exec(file.name)?.groups ?? {}
  if (isTranslation(value)) return { ...file, template: value.template, parts: value.parts, locale }
  if (isTemplate(value)) return { ...file, template: value, parts: value.parts, locale }
  throw broken(file, 'has no default export that mailTemplate() or mailTranslation() made')
}

async function problemOf(
  file: LoadedTemplate,
  all: readonly LoadedTemplate[],
): Promise<StartupError | undefined> {
  const misplaced = misplacementOf(file, all)
  if (misplaced !== undefined) return broken(file, misplaced)
  try {
    await renderParts(file.parts, file.template, file.template.sample)
    return undefined
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return broken(file, `cannot be rendered with its sample: ${reason}`, cause)
  }
}

function misplacementOf(file: LoadedTemplate, all: readonly LoadedTemplate[]): string | undefined {
  const { locale, name, template, parts } = file
  const isBase = parts === template.parts
  if (locale !== undefined && isBase)
    return `has a template, but its suffix '${locale}' is that of a translation`
  if (locale === undefined && !isBase) return 'has a translation, but no suffix with its locale'
  const baseName = LOCALE.exec(name)?.groups?.['base'] ?? name
  if (all.find((other) => other.name === baseName)?.template !== template)
    return `is not a translation of the template '${baseName}'`
  const twin = all.find((other) => other !== file && (other.name === name || other.parts === parts))
  return twin && `is the same template as ${twin.path}`
}

function broken(file: FolderFile, found: string, cause?: unknown): StartupError {
  return fault('MORTAR_MAIL_TEMPLATE', `${file.path} ${found}.`, { files: [file.path], cause })
}
