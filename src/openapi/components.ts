import { isObject } from '../support/describe-value.ts'
import type { Direction, JsonSchema, LabelledSchema, OnOmission } from '../schema/json-schema-parts.ts'
import type { Component, Place } from './component.ts'
import { classesOf } from './equal-components.ts'
import type { JsonObject } from './json.ts'
import { nameComponents } from './name-components.ts'

/** A use of a labelled schema. */
export interface Use {
  readonly place: Place | undefined
  readonly onOmission: OnOmission
  /** Labels of the schemas around it. */
  readonly around?: readonly string[]
}

/** Start of a reference to a component without a name. */
const BY_ID = 'mortar:component:'

/** Different schemas with one label inside each other, after which a function is taken to make them without end. */
const ENDLESS = 4

/**
 * Creates the collection. Names are given at the end, since they depend on all uses: equal schemas with one label are
 * one component, in whatever order the operations mention them.
 */
export function createComponents() {
  const all: Component[] = []
  const known = new Map<object, Map<string, Component>>()

  function find(labelled: LabelledSchema, direction: Direction, use: Use): Component | undefined {
    const { schema, part } = labelled.identity
    const { place, onOmission, around = [] } = use
    const forms = known.get(schema) ?? new Map<string, Component>()
    known.set(schema, forms)
    const key = `${direction} ${part}`
    const before = forms.get(key)
    if (before !== undefined) return before
    if (around.filter((label) => label === labelled.label).length >= ENDLESS) return undefined
    const component: Component = { id: all.length, labelled, direction, place, around, core: {} }
    all.push(component)
    forms.set(key, component)
    // The schema may refer to itself: it is known before it is described.
    const inside = [...around, labelled.label]
    component.core = labelled.describe(direction, onOmission, (inner, way, whenOmitted) =>
      refer(inner, way, { place, onOmission: whenOmitted, around: inside }),
    )
    return component
  }

  function refer(labelled: LabelledSchema, direction: Direction, use: Use): JsonObject {
    const found = find(labelled, direction, use)
    if (found !== undefined) return { $ref: `${BY_ID}${found.id}` }
    use.onOmission(
      '',
      `'${labelled.label}' is inside itself without end: make the schema once, not in each call`,
    )
    return {}
  }

  function describeOtherForms(): void {
    const unused: Use = { place: undefined, onOmission: () => undefined }
    for (const { labelled, direction, around } of all)
      find(labelled, direction === 'input' ? 'output' : 'input', { ...unused, around })
  }

  return {
    /** Returns a reference to a schema, described at its first use. */
    refer,
    /** Returns the document's parts with named references, and the schemas by name. */
    finish(parts: JsonObject, warn: (place: Place, message: string) => void) {
      // Both forms of each schema exist, so that the input form of a named schema is recognised.
      describeOtherForms()
      const classes = classesOf(all, idOf)
      const named = nameComponents(all, classes, warn)
      const rename = renaming(all, classes, named)
      const schemas = [...named].map(([name, component]) => [name, rename(wholeOf(component, name))] as const)
      return { parts: rename(parts) as JsonObject, schemas: Object.fromEntries(schemas) }
    },
  }
}

/** Returns the function that replaces ids in references by names. */
function renaming(
  all: readonly Component[],
  classes: readonly number[],
  named: ReadonlyMap<string, Component>,
): (node: unknown) => unknown {
  const byClass = new Map([...named].map(([name, component]) => [classes[component.id], { name, component }]))
  return (node) =>
    mapReferences(node, (id) => {
      const { name, component } = byClass.get(classes[id])!
      return { name, own: ownAnnotations(all[id]!, component) }
    })
}

function idOf(reference: unknown): number | undefined {
  const isId = typeof reference === 'string' && reference.startsWith(BY_ID)
  return isId ? Number(reference.slice(BY_ID.length)) : undefined
}

/** Returns the schema of a component, with its label if that is not the name. */
function wholeOf({ core, labelled }: Component, name: string): JsonSchema {
  const { label, annotations } = labelled
  return { ...core, ...(!name.startsWith(label) && { title: label }), ...annotations }
}

/** Annotations of a use that differ from those of the component: they are siblings of the reference. */
function ownAnnotations({ labelled }: Component, shown: Component): JsonSchema {
  return Object.fromEntries(
    Object.entries(labelled.annotations).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(shown.labelled.annotations[key]),
    ),
  )
}

interface Named {
  readonly name: string
  readonly own: JsonSchema
}

function mapReferences(node: unknown, named: (id: number) => Named): unknown {
  if (Array.isArray(node)) return node.map((item) => mapReferences(item, named))
  if (!isObject(node)) return node
  const members = Object.entries(node).map(([key, value]) => [key, mapReferences(value, named)] as const)
  const id = idOf(node.$ref)
  if (id === undefined) return Object.fromEntries(members)
  const { name, own } = named(id)
  return { ...own, ...Object.fromEntries(members), $ref: `#/components/schemas/${name}` }
}
