import { BadRequest } from '../errors/http-error.ts'
import { parseQuery } from '../support/parse-query.ts'

/** Maximum pairs of one query. Node's parser ignores pairs beyond the same number. */
const MAX_QUERY_PAIRS = 1000

/** Parses the query of a request. @throws BadRequest `too_many_parameters` above the maximum. */
export function readQuery(text: string): Record<string, string | string[] | undefined> {
  const query = parseQuery(text, MAX_QUERY_PAIRS)
  if (query !== undefined) return query
  throw new BadRequest(`The query has more than ${MAX_QUERY_PAIRS} parameters.`, {
    code: 'too_many_parameters',
  })
}
