import { childPath } from '../invalid.ts'
import { mapMembers } from '../shape-guard.ts'
import { castMember, type LongWay } from './fast-node.ts'
import type { ObjectPlan } from './object-plan.ts'
import { ownIssuesOf } from './own-issues.ts'
import { judge, SAME } from './quick.ts'
import { isInheritedName, isObject } from './yup-node.ts'

type Members = Record<string, unknown>

/** Casts an object and finds every issue in it, as yup does. */
export function objectLongWay(plan: ObjectPlan): LongWay {
  return { cast: castOf(plan), addIssues: addIssuesOf(plan) }
}

function castOf(plan: ObjectPlan): LongWay['cast'] {
  const { schema, keys, members, known, strips, read } = plan
  if (plan.strict) {
    const castOne = new Map(keys.map((key, index) => [key, members[index]!.long().cast]))
    const map = (member: unknown, key: string): unknown => castOne.get(key)?.(member) ?? member
    return (value) => (isObject(value) ? mapMembers(value, (key) => known.has(key), map) : value)
  }
  return (input) => {
    const value = input === undefined ? schema.getDefault() : input
    if (!isObject(value)) return value
    const casts: unknown[] = []
    let isSame = true
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      const given = read(value, key)
      const cast = castMember(members[index]!, given)
      casts.push(cast)
      isSame &&= cast === given && Object.hasOwn(value, key) === (cast !== undefined)
    }
    const others = Object.keys(value).filter((key) => !known.has(key))
    const kept = strips ? [] : others.filter((key) => !isInheritedName(key))
    if (isSame && kept.length === others.length) return value
    const result: Members = {}
    for (let index = 0; index < keys.length; index++)
      if (casts[index] !== undefined) result[keys[index]!] = casts[index]
    for (const key of kept) result[key] = value[key]
    return result
  }
}

function addIssuesOf({ schema, keys, members, read }: ObjectPlan): LongWay['addIssues'] {
  const addOwnIssues = ownIssuesOf(schema)
  return ({ value, original: given, path }, issues) => {
    const original = given === undefined ? value : given
    if (isObject(value)) {
      const before = isObject(original) ? original : value
      for (let index = 0; index < keys.length; index++) {
        const key = keys[index]!
        const member = read(value, key)
        if (judge(members[index]!.quick, member) === SAME) continue
        const place = { value: member, original: read(before, key), path: childPath(path, key) }
        members[index]!.long().addIssues(place, issues)
      }
    }
    addOwnIssues({ value, original, path }, issues)
  }
}
