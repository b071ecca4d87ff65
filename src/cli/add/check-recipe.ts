import { isPlainObject } from '../../support/describe-value.ts'

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isFlag: Check = (value) => typeof value === 'boolean'
const isLine: Check = (value) => typeof value === 'string' && !value.includes('\n')
const areNames: Check = (value) => Array.isArray(value) && value.every(isText)

const arePaths: Check = (value) =>
  areNames(value) && (value as string[]).every((path) => /^\w[\w/-]*$/.test(path))
const isEntry: Check = (value) => typeof value === 'string' && /^[@\w][\w./-]*$/.test(value)

const VARIABLE: Readonly<Record<string, Check>> = { comment: isText, example: isLine, optional: isFlag }

/** The keys of a recipe and of its variants, with the values that they can have. */
const RECIPE: Readonly<Record<string, Check>> = {
  peers: areNames,
  development: areNames,
  needs: areNames,
  folders: arePaths,
  tables: isEntry,
  next: areNames,
  also: areNames,
  use: isText,
  option: isText,
  default: isText,
  import: recordOf((value) => isText(value) || areNames(value)),
  env: (value) =>
    recordOf((variable) => fits(variable, VARIABLE) && Object.hasOwn(variable, 'comment'))(value) &&
    Object.keys(value as object).every((name) => /^[A-Za-z_]\w*$/.test(name)),
  variants: recordOf((variant) => findRecipeFault(variant) === undefined),
}

/** Finds the fault of a third party's recipe; undefined for a correct one. */
export function findRecipeFault(recipe: unknown): string | undefined {
  if (!isPlainObject(recipe)) return 'it is not an object'
  const wrong = Object.keys(recipe).find((key) => RECIPE[key]?.(recipe[key]) !== true)
  if (wrong === undefined) return undefined
  return Object.hasOwn(RECIPE, wrong) ? `"${wrong}" has a wrong value` : `the key "${wrong}" is unknown`
}

function fits(value: unknown, checks: Readonly<Record<string, Check>>): value is object {
  return (
    isPlainObject(value) && Object.entries(value).every(([key, member]) => checks[key]?.(member) === true)
  )
}

function recordOf(check: Check): Check {
  return (value) => isPlainObject(value) && Object.values(value).every(check)
}
