import { installCommand } from '../../peers/package-manager.ts'
import { describeImportsWithoutExtension } from '../project/imports-without-extension.ts'
import { directImports } from '../project/missing-packages.ts'
import { isInside, type Project, shown } from '../project/project.ts'
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

/** Reports imports that work only because another package, or a project of the same workspace, has installed the package. */
export function checkDependencies(project: Project): Finding[] {
  const { root, manifest } = project
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
  const listed = new Set([manifest['name'], ...kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}))])
  const found = directImports(project).filter(
    ({ name, importer }) => !listed.has(name) && isInside(importer, root),
  )
  const first = found.filter(({ name }, index) => found.findIndex((each) => each.name === name) === index)
  if (first.length === 0) return []
  const names = first.map(({ name, importer }) => `${name} (${shown(importer, root)})`)
  return [
    finding(
      'warning',
      'MORTAR_DOCTOR_DEPENDENCIES',
      `package.json does not list packages that the application imports: ${names.join(', ')}.`,
      `An installation without other projects lacks them. Add them: ${installCommand(first.map(({ name }) => ({ name })))}`,
    ),
  ]
}
