import { describeImportsWithoutExtension } from '../project/imports-without-extension.ts'
import type { Project } from '../project/project.ts'
import { type Finding, finding } from './finding.ts'

/** Reports relative imports without a file extension, which `mortar dev` accepts and `mortar build` does not. */
export function checkImports(project: Project): Finding[] {
  const found = describeImportsWithoutExtension(project)
  if (found === undefined) return []
  return [
    finding(
      'warning',
      'MORTAR_DOCTOR_IMPORT',
      `Imports have no file extension: ${found}.`,
      'Write the extension of the source file; the build replaces .ts by .js.',
    ),
  ]
}
