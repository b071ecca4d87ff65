import type * as Yup from 'yup'
import { loadYup } from '../support/lazy-packages.ts'
import type { YupNode, YupTest } from './yup.ts'

/*
 * The pattern behind `string().url()` of yup 1.7.1 takes time by powers of two for text such as `//a.0.0.0…` with a
 * character at its end that no URL has (jquense/yup#2244): a body of 70 bytes would stop the process. Its labels of a
 * host name may hold dots themselves, so that there are as many ways to read a name as ways to divide it.
 */
const BEYOND_ASCII = String.raw`\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF`
const LETTER = `([a-z]|[${BEYOND_ASCII}])`
const ALNUM = String.raw`([a-z]|\d|[${BEYOND_ASCII}])`
const INNER = String.raw`([a-z]|\d|-|\.|_|~|[${BEYOND_ASCII}])`

/** The labels of a host name in yup's pattern. */
const LABELS = String.raw`((${ALNUM}|(${ALNUM}${INNER}*${ALNUM}))\.)+(${LETTER}|(${LETTER}${INNER}*${LETTER}))`

/**
 * The same names, read in one way: the first character of a label, anything inner, a letter at the end, and on the way
 * a dot between the last character of a label and a letter. `test/schema/url-pattern.test.ts` compares the two.
 */
const ONE_WAY = String.raw`(?=${INNER}*${ALNUM}\.${LETTER})${ALNUM}${INNER}*${LETTER}`

/** The pattern of `string().url()`: one object, shared by all schemas of this copy of yup. */
export function urlPattern({ string }: typeof Yup): RegExp | undefined {
  const test = string().url().tests.at(-1) as { OPTIONS?: { params?: { regex?: unknown } } } | undefined
  const regex = test?.OPTIONS?.params?.regex
  return regex instanceof RegExp ? regex : undefined
}

/** A pattern that takes what the given one takes, in time that grows with the length; undefined for an unknown one. */
export function linearUrlPattern({ source, flags }: RegExp): RegExp | undefined {
  const linear = source.replace(LABELS, () => ONE_WAY)
  return linear === source ? undefined : new RegExp(linear, flags)
}

const known = new WeakMap<RegExp, RegExp | undefined>()

function linearOf(regex: RegExp): RegExp | undefined {
  if (!known.has(regex)) known.set(regex, linearUrlPattern(regex))
  return known.get(regex)
}

/**
 * Returns a schema's tests, with an equal test that takes linear time in place of the one of `string().url()`. yup's own
 * pattern stays as it is, for everybody who validates by yup itself.
 */
export function linearTests({ tests }: Pick<YupNode, 'tests'>): readonly YupTest[] {
  return tests.some(isUrlTest) ? tests.map((test) => (isUrlTest(test) ? linearTest(test) : test)) : tests
}

function isUrlTest({ OPTIONS }: YupTest): boolean {
  return OPTIONS.name === 'url' && OPTIONS.params?.['regex'] instanceof RegExp
}

function linearTest(test: YupTest): YupTest {
  const { name, message, params } = test.OPTIONS
  const linear = linearOf(params?.['regex'] as RegExp)
  if (linear === undefined) return test
  const options = { name, message, excludeEmptyString: true } as Parameters<Yup.StringSchema['matches']>[1]
  return loadYup().string().matches(linear, options).tests.at(-1) as unknown as YupTest
}

/** False for text that a `url()` of the schema refuses. */
export function matchesUrls({ tests = [] }: Partial<Pick<YupNode, 'tests'>>, text: string): boolean {
  return tests.filter(isUrlTest).every(({ OPTIONS }) => {
    const linear = linearOf(OPTIONS.params?.['regex'] as RegExp)
    return linear === undefined || text === '' || linear.test(text)
  })
}
