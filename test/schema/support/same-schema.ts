import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type, type Type } from 'arktype'
import * as v from 'valibot'
import * as yup from 'yup'
import { z } from 'zod'
import type { Schema } from '../../../src/schema/schema.ts'
import type { Random } from './random.ts'

/** One member of an object, in each library. */
interface Member {
  readonly yup: yup.Schema
  readonly zod: z.ZodType
  readonly valibot: v.GenericSchema
  readonly arktype: Type
}

type Make = (random: Random) => Member
/** Valibot requires its own types of both, which depend on the constants. */
const anyOf = (schemas: readonly unknown[]): v.GenericSchema => v.union(schemas as v.GenericSchema[])

const number = (): Member => ({
  yup: yup.number(),
  zod: z.number(),
  valibot: v.number(),
  arktype: type.number,
})

const KINDS: Readonly<Record<string, Make>> = {
  number,
  text: () => ({
    yup: yup.string(),
    zod: z.string(),
    valibot: v.string(),
    arktype: type.string,
  }),
  boolean: () => ({
    yup: yup.boolean(),
    zod: z.boolean(),
    valibot: v.boolean(),
    arktype: type.boolean,
  }),
  bounded: (random) => {
    const most = random.below(3)
    return {
      yup: yup.number().integer().max(most),
      zod: z.int().max(most),
      valibot: v.pipe(v.number(), v.integer(), v.maxValue(most)),
      arktype: type.keywords.number.integer.atMost(most) as never,
    }
  },
  constant: (random) => {
    const only = random.pick([0, 1, 2.5])
    return {
      yup: yup.number().oneOf([only]),
      zod: z.literal(only),
      valibot: v.literal(only),
      arktype: type.unit(only),
    }
  },
  truth: () => ({
    yup: yup.boolean().oneOf([true]),
    zod: z.literal(true),
    valibot: v.literal(true),
    arktype: type.unit(true),
  }),
  'several constants': (random) => {
    const values = [0, random.pick([1, 2.5])] as const
    return {
      yup: yup.number().oneOf(values),
      zod: random.chance(0.5) ? z.literal([...values]) : z.union(values.map((one) => z.literal(one))),
      valibot: random.chance(0.5) ? v.picklist(values) : anyOf(values.map((one) => v.literal(one))),
      arktype: type.enumerated(...values),
    }
  },
  words: () => ({
    yup: yup.string().oneOf(['x', '1']),
    zod: z.union([z.literal('x'), z.literal('1')]),
    valibot: v.picklist(['x', '1']),
    arktype: type.enumerated('x', '1'),
  }),
  checked: () => ({
    yup: yup.number().test('even', (value) => value === undefined || value % 2 === 0),
    zod: z.number().refine((value) => value % 2 === 0),
    valibot: v.pipe(
      v.number(),
      v.check((value) => value % 2 === 0),
    ),
    arktype: type.number.narrow((value) => value % 2 === 0),
  }),
  branded: () => ({
    ...number(),
    zod: z.number().brand('count').readonly(),
    valibot: v.pipe(v.number(), v.brand('count')),
    arktype: type.number.brand('count'),
  }),
  pair: () => ({
    yup: yup.tuple([yup.number().required(), yup.string().required()]),
    zod: z.tuple([z.number(), z.string().min(1)]),
    valibot: v.strictTuple([v.number(), v.pipe(v.string(), v.minLength(1))]),
    arktype: type(['number', 'string > 0']),
  }),
}

/** Returns a list of a member. In yup an item is required, which excludes the empty string. */
function listOf(member: Member): Member {
  return {
    yup: yup.array(member.yup.defined()),
    zod: z.array(member.zod),
    valibot: v.array(member.valibot),
    arktype: member.arktype.array(),
  }
}

/** An object in each library, of the members by name. Each is optional or not. */
export interface SameSchema {
  readonly description: string
  /** True if a JSON Schema says everything that the schemas check. */
  readonly isDescribed: boolean
  readonly schemas: Readonly<Record<'yup' | 'zod' | 'valibot' | 'arktype', Schema>>
}

/** Makes a random object schema, of the same meaning in each library, with the members `a` and `b`. */
export function randomSameSchema(random: Random): SameSchema {
  const [first, second] = ['a', 'b'].map((name) => {
    const kind = random.pick(Object.keys(KINDS))
    const isList = kind !== 'pair' && random.chance(0.3)
    const one = KINDS[kind]!(random)
    const isOptional = random.chance(0.5)
    return {
      text: `${name}${isOptional ? '?' : ''}: ${isList ? 'list of ' : ''}${kind}`,
      isDescribed: kind !== 'checked',
      object: objectOf(name, isList ? listOf(one) : one, isOptional),
    }
  }) as [NamedMember, NamedMember]
  const isChecked = random.chance(0.3)
  return {
    description: `${first.text}, ${second.text}${isChecked ? ', checked' : ''}`,
    isDescribed: first.isDescribed && second.isDescribed,
    schemas: joined(first.object, second.object, isChecked),
  }
}

interface NamedMember {
  readonly text: string
  readonly isDescribed: boolean
  readonly object: Objects
}

interface Objects {
  readonly yup: yup.ObjectSchema<object>
  readonly zod: z.ZodObject
  readonly valibot: v.GenericSchema
  readonly arktype: Type<object>
}

function objectOf(name: string, member: Member, isOptional: boolean): Objects {
  return {
    yup: yup.object({ [name]: isOptional ? member.yup : member.yup.defined() }),
    zod: z.object({ [name]: isOptional ? member.zod.optional() : member.zod }),
    valibot: v.object({ [name]: isOptional ? v.optional(member.valibot) : member.valibot }),
    arktype: type({ [isOptional ? `${name}?` : name]: member.arktype } as never) as never,
  }
}

/** Returns the objects as one, by the intersection of each library. */
function joined(first: Objects, second: Objects, isChecked: boolean): SameSchema['schemas'] {
  const always = (): boolean => true
  const both = v.intersect([first.valibot, second.valibot])
  const object = first.arktype.and(second.arktype as never)
  const intersection = z.intersection(first.zod, second.zod)
  return {
    yup: first.yup.concat(second.yup),
    zod: isChecked ? intersection.refine(always) : intersection,
    valibot: toStandardJsonSchema(isChecked ? v.pipe(both, v.check(always)) : both),
    arktype: isChecked ? object.narrow(always) : object,
  }
}
