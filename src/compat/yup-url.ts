import type { YupNode, YupTest } from './yup.ts'
import { oncePerObject } from '../support/once.ts'

/*
 * The pattern of `string().url()` in yup 1.7.1 takes exponential time for text such as `//a.0.0.0…` that ends with a
 * character that is invalid in a URL (jquense/yup#2244): a body of 70 bytes would block the process. The cause: a label
 * of a host name may itself contain dots, so that a name can be split into labels in many ways.
 */
const BEYOND_ASCII = String.raw`\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF`
const LETTER = `([a-z]|[${BEYOND_ASCII}])`
const ALNUM = String.raw`([a-z]|\d|[${BEYOND_ASCII}])`
const INNER = String.raw`([a-z]|\d|-|\.|_|~|[${BEYOND_ASCII}])`

/** The labels of a host name in yup's pattern. */
const LABELS = String.raw`((${ALNUM}|(${ALNUM}${INNER}*${ALNUM}))\.)+(${LETTER}|(${LETTER}${INNER}*${LETTER}))`

/**
 * Matches the same names in only one way: the first character of a label, inner characters, and a letter at the end,
 * with a dot between the last character of a label and a letter. `test/schema/url-pattern.test.ts` compares the two.
 */
const ONE_WAY = String.raw`(?=${INNER}*${ALNUM}\.${LETTER})${ALNUM}${INNER}*${LETTER}`

/** Returns an equal pattern that takes linear time; undefined for an unknown pattern. */
export function linearUrlPattern({ source, flags }: RegExp): RegExp | undefined {
  const linear = source.replace(LABELS, () => ONE_WAY)
  return linear === source ? undefined : new RegExp(linear, flags)
}

const linearOf = oncePerObject(linearUrlPattern)

function isUrlTest({ OPTIONS }: YupTest): boolean {
  return OPTIONS.name === 'url' && OPTIONS.params?.['regex'] instanceof RegExp
}

/** Returns the linear-time pattern for the test of `string().url()`; undefined for any other test. */
export function linearPatternOf(test: YupTest): RegExp | undefined {
  return isUrlTest(test) ? linearOf(test.OPTIONS.params?.['regex'] as RegExp) : undefined
}

/** False for a string that a `url()` of the schema refuses. */
export function matchesUrls({ tests = [] }: Partial<Pick<YupNode, 'tests'>>, text: string): boolean {
  return tests.filter(isUrlTest).every(({ OPTIONS }) => {
    const linear = linearOf(OPTIONS.params?.['regex'] as RegExp)
    return linear === undefined || text === '' || linear.test(text)
  })
}
