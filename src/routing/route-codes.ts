/**
 * The codes for a directory of route files, with their meaning. `docs/startup-errors.md` lists each with its remedy; a
 * test compares the two. The codes for a duplicate, for a second parameter name at one position and for a difference
 * in case are those that the route table uses for routers.
 */
export const ROUTE_FILE_CODES = {
  MORTAR_ROUTE_AUTH_SHAPE: '`auth` is neither a boolean, nor the name of a policy, nor a list of names',
  MORTAR_ROUTE_BODY_NOT_ALLOWED: 'a `body` schema or `rawBody` on GET or HEAD',
  MORTAR_ROUTE_BRACKET_EMPTY: 'brackets without a parameter name',
  MORTAR_ROUTE_BRACKET_NESTED: 'brackets inside brackets',
  MORTAR_ROUTE_BRACKET_UNCLOSED: 'a bracket without its partner',
  MORTAR_ROUTE_CASE: 'two names at one position that differ in case only',
  MORTAR_ROUTE_CATCH_ALL_MISTYPED: 'a catch-all without exactly three dots in front',
  MORTAR_ROUTE_CATCH_ALL_NOT_LAST: 'something comes after a catch-all',
  MORTAR_ROUTE_CHARACTER: 'a character in a file name that is not allowed in a path',
  MORTAR_ROUTE_DEFINITION: '`defineRoute` was not given a definition and a handler',
  MORTAR_ROUTE_DIRECTORY_MISSING: 'the directory of route files does not exist',
  MORTAR_ROUTE_DIRECTORY_RELATIVE: 'the directory of route files is not an absolute path',
  MORTAR_ROUTE_DIRECTORY_UNREADABLE: 'the directory of route files cannot be read',
  MORTAR_ROUTE_DUPLICATE: 'two files for one method and path',
  MORTAR_ROUTE_EXTENSIONS: 'one module with two extensions',
  MORTAR_ROUTE_GROUP: 'a name in parentheses',
  MORTAR_ROUTE_GUARD_KEY: 'an export that looks like a guard and guards nothing',
  MORTAR_ROUTE_HANDLER: 'the default export is not a function',
  MORTAR_ROUTE_IMPORT: 'a module that cannot be imported',
  MORTAR_ROUTE_KEY: 'a key that route definitions do not have',
  MORTAR_ROUTE_LIMIT: '`limit` is not a limit that can be counted',
  MORTAR_ROUTE_METHOD_CASE: 'a method that is not in lower case',
  MORTAR_ROUTE_METHOD_MISSING: 'no method in the file name',
  MORTAR_ROUTE_METHOD_UNKNOWN: 'a method that routes do not have',
  MORTAR_ROUTE_MIDDLEWARE: 'a `_middleware` file without a default function',
  MORTAR_ROUTE_MIDDLEWARE_KEY: 'a `_middleware` file that exports `auth`',
  MORTAR_ROUTE_MIDDLEWARE_NAME: 'a file name that looks like `_middleware` but is misspelled',
  MORTAR_ROUTE_MIXED_FORMS: '`defineRoute` and separate exports in one module',
  MORTAR_ROUTE_NAME_MISSING: 'a file name that begins with the method',
  MORTAR_ROUTE_NO_DEFAULT: 'no default export',
  MORTAR_ROUTE_PARAMETER_NAME: 'a parameter name that is not a plain name',
  MORTAR_ROUTE_PARAMETER_NAMES: 'two parameter names for one position',
  MORTAR_ROUTE_PARAMETER_OPTIONAL: 'an optional parameter',
  MORTAR_ROUTE_PARAMETER_SEGMENT: 'a parameter that is not a whole segment',
  MORTAR_ROUTE_PARAMETER_TWICE: 'one parameter name twice in a path',
  MORTAR_ROUTE_HEADERS_KEY: 'a key of the `headers` schema that is not in lower case',
  MORTAR_ROUTE_PARAMS_KEY: 'a key of the `params` schema that is not in the path',
  MORTAR_ROUTE_PROTOCOL: 'a file for connections of a protocol without a route for them',
  MORTAR_ROUTE_RESPONSE: '`response` is not an object from status to schema',
  MORTAR_ROUTE_SCHEMA: 'a schema key whose value is not a schema',
  MORTAR_ROUTE_VALUE: 'a key whose value has the wrong type',
} as const satisfies Record<string, string>

/** A code of `ROUTE_FILE_CODES`. */
export type RouteFileCode = keyof typeof ROUTE_FILE_CODES
