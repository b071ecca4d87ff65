import type { AnyRouter } from 'mortar'
import type { AnyObjectSchema } from 'mortar/yup'
import type { TableShape } from '../accounts/records.ts'
import type { AuthFeature } from './feature.ts'
import { wrongOption } from '../options/wrong-option.ts'

/**
 * Checks the option `features`.
 * @throws StartupError `MORTAR_AUTH_OPTION` for an entry that is not a feature, for a feature that occurs twice, and for one
 * that needs another.
 */
export function checkFeatures(features: readonly unknown[] = [], signUpFields?: AnyObjectSchema): void {
  const names = features.map(nameOf)
  const wrong = names.findIndex((name) => name === undefined)
  if (wrong >= 0)
    throw wrongOption(`features[${wrong}] is not a feature`, 'Write the result of a call, such as recent().')
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw wrongOption(`features has ${twice}() twice`, 'Write each feature once.')
  for (const { name, requires = [] } of features as readonly AuthFeature[])
    for (const needed of requires)
      if (!names.includes(needed))
        throw wrongOption(`features has ${name}() without ${needed}()`, `Add ${needed}() to the list.`)
  const maker = (features as readonly AuthFeature[]).find(({ makesAccounts }) => makesAccounts)
  if (maker !== undefined && needsFields(signUpFields))
    throw wrongOption(
      `signUpFields has a required field, and ${maker.name}() makes accounts without it`,
      `Make it optional, or write signUp: false in ${maker.name}().`,
    )
}

/**
 * Refuses the option `features` of a provider whose accounts are elsewhere.
 * @throws StartupError `MORTAR_AUTH_OPTION` naming the features.
 */
export function refuseFeatures(
  options: object,
  { of, where }: { readonly of: string; readonly where: string },
): void {
  // A caller in JavaScript may pass any value.
  const { features } = (options ?? {}) as { readonly features?: unknown }
  if (features === undefined) return
  const names = [features].flat().map((feature) => `${nameOf(feature) ?? '?'}()`)
  throw wrongOption(
    `features is not one of ${of}, so ${names.join(', ')} cannot be used`,
    `Remove it: ${where}. basicAuth() and documentAuth() have these features.`,
  )
}

function needsFields(schema: AnyObjectSchema | undefined): boolean {
  return Object.values(schema?.describe().fields ?? {}).some(
    (field) => 'optional' in field && !field.optional && field.default === undefined,
  )
}

/** The routers of features. */
export function routersOf(features: readonly AuthFeature[]): readonly AnyRouter[] {
  return features.flatMap(({ routes = [] }) => (typeof routes === 'function' ? routes(features) : routes))
}

/** The tables of features, each once. */
export function tablesOf(features: readonly AuthFeature[] = []): readonly TableShape[] {
  return [...new Set(features.flatMap(({ tables = [] }) => tables))]
}

function nameOf(feature: unknown): string | undefined {
  const { name, connect } = (feature ?? {}) as Partial<AuthFeature>
  return typeof name === 'string' && typeof connect === 'function' ? name : undefined
}
