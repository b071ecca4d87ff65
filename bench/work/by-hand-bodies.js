/* The hand-written checks of the larger inputs: documents (workload i) and searches (workload j). */
import { Issues } from './by-hand.js'
import { BLOCK_TYPES, LANGUAGES } from './documents.js'
import { SORTS } from './searches.js'

const isText = (value, min, max) => typeof value === 'string' && value.length >= min && value.length <= max
const isWhole = (value, min, max) => Number.isInteger(value) && value >= min && value <= max

/** @returns the document, or its issues */
export function checkDocument(body) {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return new Issues([{ location: 'body', path: '', message: 'is not an object' }])
  const issues = []
  const bad = (path, message) => issues.push({ location: 'body', path, message })
  if (!isText(body.title, 1, 200)) bad('title', 'is not 1 to 200 characters long')
  if (!LANGUAGES.includes(body.language)) bad('language', 'is unknown')
  if (!isWhole(body.revision, 1, Number.MAX_SAFE_INTEGER)) bad('revision', 'is not a whole number from 1')
  if (!Array.isArray(body.tags) || body.tags.length > 20) bad('tags', 'is not up to 20 tags')
  else
    for (let index = 0; index < body.tags.length; index++)
      if (!isText(body.tags[index], 1, 40)) bad(`tags[${index}]`, 'is not 1 to 40 characters long')
  if (!Array.isArray(body.blocks) || body.blocks.length < 1 || body.blocks.length > 500)
    bad('blocks', 'is not 1 to 500 blocks')
  else for (let index = 0; index < body.blocks.length; index++) checkBlock(body.blocks[index], index, bad)
  return issues.length === 0 ? body : new Issues(issues)
}

function checkBlock(block, index, bad) {
  if (typeof block !== 'object' || block === null) return bad(`blocks[${index}]`, 'is not an object')
  if (!isText(block.id, 1, 40)) bad(`blocks[${index}].id`, 'is not 1 to 40 characters long')
  if (!BLOCK_TYPES.includes(block.type)) bad(`blocks[${index}].type`, 'is unknown')
  if (!isText(block.text, 0, 2000)) bad(`blocks[${index}].text`, 'is not up to 2,000 characters long')
  if (block.level !== undefined && !isWhole(block.level, 1, 6))
    bad(`blocks[${index}].level`, 'is not from 1 to 6')
}

/** Reads the two segments of the path and the eleven pairs of the query. @returns both, or the issues */
export function readSearch(path, search) {
  const slash = path.indexOf('/')
  const place = decode(path.slice(0, slash))
  const trade = decode(path.slice(slash + 1))
  const given = {
    q: '',
    page: '',
    limit: '',
    sort: '',
    open: '',
    min: '',
    max: '',
    brand: '',
    from: '',
    near: '',
    ref: '',
  }
  for (let from = 0; from < search.length;) {
    let to = search.indexOf('&', from)
    if (to === -1) to = search.length
    const mark = search.indexOf('=', from)
    if (mark !== -1 && mark < to) {
      const name = search.slice(from, mark)
      if (Object.hasOwn(given, name)) given[name] = decodeQuery(search.slice(mark + 1, to))
    }
    from = to + 1
  }
  return checkSearch(place, trade, given)
}

export function checkSearch(place, trade, given) {
  const query = {
    ...given,
    page: numberOf(given.page),
    limit: numberOf(given.limit),
    open: given.open === 'true',
    min: numberOf(given.min),
    max: numberOf(given.max),
  }
  const list = []
  const bad = (location, name, message) => list.push({ location, path: name, message })
  if (!isText(place, 1, 60)) bad('params', 'place', 'is not 1 to 60 characters long')
  if (!isText(trade, 1, 60)) bad('params', 'trade', 'is not 1 to 60 characters long')
  if (!isText(query.q, 1, 80)) bad('query', 'q', 'is not 1 to 80 characters long')
  if (!isWhole(query.page, 1, Number.MAX_SAFE_INTEGER)) bad('query', 'page', 'is not a whole number from 1')
  if (!isWhole(query.limit, 1, 100)) bad('query', 'limit', 'is not from 1 to 100')
  if (!SORTS.includes(query.sort)) bad('query', 'sort', 'is unknown')
  if (given.open !== 'true' && given.open !== 'false') bad('query', 'open', 'is not true or false')
  if (!(query.min >= 0)) bad('query', 'min', 'is not a number from 0')
  if (!(query.max >= 0)) bad('query', 'max', 'is not a number from 0')
  for (const name of ['brand', 'from', 'near', 'ref'])
    if (!isText(query[name], 1, 100)) bad('query', name, 'is not 1 to 100 characters long')
  return list.length === 0 ? { place, trade, query } : new Issues(list)
}

function numberOf(text) {
  return text === '' ? Number.NaN : Number(text)
}

function decodeQuery(text) {
  if (!text.includes('%')) return text.includes('+') ? text.replaceAll('+', ' ') : text
  return decode(text.includes('+') ? text.replaceAll('+', ' ') : text)
}

function decode(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
