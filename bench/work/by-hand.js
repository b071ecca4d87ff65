/*
 * Validation and token check as somebody would write them by hand for these endpoints alone: the work of raw node:http
 * and of bare Koa.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { claimsOf, CURRENCIES, EMAIL, ISSUER, SECRET, ZIP } from './data.js'

/** The faults of an input; any other result of a check is the value. */
export class Issues {
  list

  constructor(list) {
    this.list = list
  }
}

const INTEGER = /^-?\d+$/

/** @returns the id as a number, or undefined */
export function idOf(text) {
  if (!INTEGER.test(text)) return undefined
  const id = Number(text)
  return id >= 1 ? id : undefined
}

/** Reads the `offset` of a list. @returns it as a number, or the issues */
export function readOffset(search) {
  const text = search.startsWith('offset=') ? search.slice(7) : ''
  const offset = INTEGER.test(text) ? Number(text) : -1
  if (offset >= 0) return offset
  return new Issues([{ location: 'query', path: 'offset', message: 'is not a whole number from 0' }])
}

/** Reads `page`, `limit` and `q` of a query string in one pass. */
export function readUserInput(idText, search) {
  let page
  let limit
  let q
  for (let from = 0; from < search.length;) {
    let to = search.indexOf('&', from)
    if (to === -1) to = search.length
    const mark = search.indexOf('=', from)
    if (mark !== -1 && mark < to) {
      const name = search.slice(from, mark)
      if (name === 'page') page = search.slice(mark + 1, to)
      else if (name === 'limit') limit = search.slice(mark + 1, to)
      else if (name === 'q') q = search.slice(mark + 1, to)
    }
    from = to + 1
  }
  return checkUserInput(idText, page, limit, q === undefined ? undefined : decode(q))
}

export function checkUserInput(idText, pageText, limitText, q) {
  const id = idOf(idText)
  const page = pageText !== undefined && INTEGER.test(pageText) ? Number(pageText) : Number.NaN
  const limit = limitText !== undefined && INTEGER.test(limitText) ? Number(limitText) : Number.NaN
  if (
    id !== undefined &&
    page >= 1 &&
    limit >= 1 &&
    limit <= 100 &&
    q !== undefined &&
    q !== '' &&
    q.length <= 50
  )
    return { id, page, limit, q }
  const list = []
  if (id === undefined)
    list.push({ location: 'params', path: 'id', message: 'is not a positive whole number' })
  if (!(page >= 1)) list.push({ location: 'query', path: 'page', message: 'is not a positive whole number' })
  if (!(limit >= 1 && limit <= 100))
    list.push({ location: 'query', path: 'limit', message: 'is not from 1 to 100' })
  if (q === undefined || q === '' || q.length > 50)
    list.push({ location: 'query', path: 'q', message: 'is not 1 to 50 characters long' })
  return new Issues(list)
}

function decode(text) {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

const isText = (value, min, max) => typeof value === 'string' && value.length >= min && value.length <= max

export function checkOrder(body) {
  const issues = []
  const bad = (path, message) => issues.push({ location: 'body', path, message })
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return new Issues([{ location: 'body', path: '', message: 'is not an object' }])
  if (!isText(body.reference, 1, 40)) bad('reference', 'is not 1 to 40 characters long')
  checkCustomer(body.customer, bad)
  checkAddress(body.address, bad)
  if (!CURRENCIES.includes(body.currency)) bad('currency', 'is unknown')
  if (typeof body.express !== 'boolean') bad('express', 'is not a boolean')
  if (!Array.isArray(body.items) || body.items.length < 1 || body.items.length > 20)
    bad('items', 'is not 1 to 20 items')
  else checkItems(body.items, bad)
  if (body.note !== undefined && !isText(body.note, 0, 500)) bad('note', 'is too long')
  return issues.length === 0 ? body : new Issues(issues)
}

function checkCustomer(customer, bad) {
  if (typeof customer !== 'object' || customer === null) return bad('customer', 'is not an object')
  if (!isText(customer.name, 1, 100)) bad('customer.name', 'is not 1 to 100 characters long')
  if (typeof customer.email !== 'string' || !EMAIL.test(customer.email))
    bad('customer.email', 'is not an address')
}

function checkAddress(address, bad) {
  if (typeof address !== 'object' || address === null) return bad('address', 'is not an object')
  if (!isText(address.street, 1, 100)) bad('address.street', 'is not 1 to 100 characters long')
  if (!isText(address.city, 1, 100)) bad('address.city', 'is not 1 to 100 characters long')
  if (typeof address.zip !== 'string' || !ZIP.test(address.zip)) bad('address.zip', 'is not five digits')
}

function checkItems(items, bad) {
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    if (typeof item !== 'object' || item === null) {
      bad(`items[${index}]`, 'is not an object')
      continue
    }
    if (!isText(item.sku, 1, 20)) bad(`items[${index}].sku`, 'is not 1 to 20 characters long')
    if (!Number.isInteger(item.quantity) || item.quantity < 1 || item.quantity > 99)
      bad(`items[${index}].quantity`, 'is not from 1 to 99')
  }
}

/** The secret as a prepared key: with a string, jsonwebtoken prepares one for each verification, at 0.3 ms. */
export const KEY = createSecretKey(Buffer.from(SECRET))
const HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')

/** So many HS256 tokens of different users, for the benchmark to send. */
export function signTokens(count) {
  return Array.from({ length: count }, (_, index) => signToken(claimsOf(index)))
}

function signToken(claims) {
  const head = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${head}.${createHmac('sha256', KEY).update(head).digest('base64url')}`
}

/** Verifies a token on each call. @returns the claims, or null */
export function verifyToken(authorization) {
  if (authorization === undefined || !authorization.startsWith('Bearer ')) return null
  const token = authorization.slice(7)
  const first = token.indexOf('.')
  const last = token.lastIndexOf('.')
  if (first === -1 || first === last || token.slice(0, first) !== HEADER) return null
  const given = Buffer.from(token.slice(last + 1), 'base64url')
  const right = createHmac('sha256', KEY).update(token.slice(0, last)).digest()
  if (given.length !== right.length || !timingSafeEqual(given, right)) return null
  const claims = JSON.parse(Buffer.from(token.slice(first + 1, last), 'base64url').toString('utf8'))
  const now = Date.now() / 1000
  return claims.exp > now && claims.iss === ISSUER && claims.aud === ISSUER ? claims : null
}
