import { ownerOf } from '../routing/route.ts'
import type { Component, Place } from './component.ts'
import { unusedName } from './parameter-names.ts'

/** Names of the framework's own components. */
const RESERVED = ['Problem', 'ValidationProblem']

/** The used components of one class: they describe the same values under one label. */
interface Group {
  readonly class: number
  readonly members: readonly Component[]
  readonly isOutput: boolean
  /** Brick routes come last, so that a brick does not take a name from the application. */
  readonly isForeign: boolean
}

/**
 * Names the classes of components that operations use, by label. The first output form has the label itself. Its input
 * form, if it differs, is `<label>Input`. Any other schema with the same label has a number, with a warning.
 * @returns the first component of each class by name, sorted.
 */
export function nameComponents(
  all: readonly Component[],
  classes: readonly number[],
  warn: (place: Place, message: string) => void,
): Map<string, Component> {
  const names = new Map<number, string>()
  const taken = new Map<string, Component | undefined>(RESERVED.map((name) => [name, undefined]))
  const take = (group: Group, name: string): void => {
    names.set(group.class, name)
    taken.set(name, group.members[0])
  }
  const claim = (group: Group): void => {
    const first = group.members[0]!
    const name = componentName(first.labelled.label)
    if (!taken.has(name)) return take(group, name)
    const numbered = unusedName(name, taken)
    warn(first.place!, clashMessage(first, taken.get(name), numbered))
    take(group, numbered)
  }
  const groups = groupsOf(all, classes)
  for (const group of groups.filter(({ isOutput }) => isOutput)) claim(group)
  for (const group of groups.filter(({ isOutput }) => !isOutput)) {
    const name = outputName(group, all, classes, names)
    if (name !== undefined && !taken.has(`${name}Input`)) take(group, `${name}Input`)
    else claim(group)
  }
  const given = [...taken].filter((entry): entry is [string, Component] => entry[1] !== undefined)
  return new Map(given.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function groupsOf(all: readonly Component[], classes: readonly number[]): Group[] {
  const used = new Map<number, Component[]>()
  for (const component of all) {
    if (component.place === undefined) continue
    const number = classes[component.id]!
    used.set(number, [...(used.get(number) ?? []), component])
  }
  const groups = [...used].map(([number, members]) => ({
    class: number,
    members,
    isOutput: members.some(({ direction }) => direction === 'output'),
    isForeign: members.every(({ place }) => ownerOf(place!.route) === 'brick'),
  }))
  return groups.toSorted((a, b) => Number(a.isForeign) - Number(b.isForeign))
}

/** Returns the name of the output form of the same schema. */
function outputName(
  { members }: Group,
  all: readonly Component[],
  classes: readonly number[],
  names: ReadonlyMap<number, string>,
): string | undefined {
  const form = all.find(
    ({ id, direction, labelled: { identity } }) =>
      direction === 'output' &&
      names.has(classes[id]!) &&
      members.some(
        ({ labelled: { identity: own } }) => own.schema === identity.schema && own.part === identity.part,
      ),
  )
  return form && names.get(classes[form.id]!)
}

/** Returns a label as the name of a component: `a-zA-Z0-9.-_` (OpenAPI 3.1 §4.8.7.1), else its words in Pascal case. */
export function componentName(label: string): string {
  if (/^[\w.-]+$/.test(label)) return label
  const words = label
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .split(/[^a-zA-Z0-9]+/)
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
  return name === '' ? 'Schema' : name
}

function clashMessage(second: Component, first: Component | undefined, name: string): string {
  const { label } = second.labelled
  const other = first?.place === undefined ? 'the framework' : nameOf(first.place)
  return (
    `another schema has the label '${label}' (${other}), so this one is named ${name}. ` +
    'Give one of them its own label; pick, omit, partial, shape and concat keep the label'
  )
}

function nameOf({ route, part }: Place): string {
  return `${part} of ${route.method} ${route.path}`
}
