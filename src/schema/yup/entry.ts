import * as yup from 'yup'

/**
 * yup, in the version that Mortar uses. In the built package it is loaded by `require`: an `import` of a CommonJS package
 * makes Node 20 and 22 compile a lexer for export names, which costs a tenth of an application's start.
 *
 * `string()`, `number()`, `boolean()` and `date()` copy an empty schema of yup. A schema that yup constructs keeps the
 * empty schema that its chain of calls began with: without the copies, 90,000 schemas take 1.6 times the memory and 1.3
 * times the time. `test/schema/yup-entry.test.ts` compares both.
 */
export * from 'yup'

export const string: typeof yup.string = copying('string', yup.string)
export const number: typeof yup.number = copying('number', yup.number)
export const boolean: typeof yup.boolean = copying('boolean', yup.boolean)
export const bool: typeof yup.bool = copying('bool', yup.bool)
export const date: typeof yup.date = copying('date', yup.date)

function copying<Create extends () => yup.Schema>(name: string, create: Create): Create {
  const words = yup.defaultLocale.mixed!
  let empty: yup.Schema | undefined
  let notType: unknown
  let notNull: unknown
  function copy(): yup.Schema {
    // `setLocale` changes the messages of the schemas that are created afterwards.
    if (empty === undefined || notType !== words.notType || notNull !== words.notNull) {
      empty = create()
      ;({ notType, notNull } = words)
    }
    return empty.clone()
  }
  // `addMethod` finds the class of a schema by the prototype of its function.
  copy.prototype = create.prototype as unknown
  Object.defineProperty(copy, 'name', { value: name })
  return Object.assign(copy, create)
}
