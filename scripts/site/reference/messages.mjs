// The messages of the start, by code, as the sources write them: `…` replaces a value that is known at run time only.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const ROOT = join(import.meta.dirname, '../../..')
const CODE = /^MORTAR_[A-Z]+(?:_[A-Z]+)*$/
const LEAST_WORDS = 3

/**
 * The first lines of messages by code, both in alphabetical order. The codes are those of docs/startup-errors.md. A code
 * whose messages the sources compose elsewhere has an empty list.
 *
 * @returns {Array<[code: string, messages: string[]]>}
 */
export function readMessages() {
  const table = readFileSync(join(ROOT, 'docs/startup-errors.md'), 'utf8')
  const found = new Map([...table.matchAll(/^\| `(MORTAR_\w+)`/gm)].map(([, code]) => [code, new Set()]))
  for (const path of sources()) {
    const file = ts.createSourceFile(
      path,
      readFileSync(join(ROOT, path), 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    )
    for (const literal of codesIn(file)) {
      const messages = found.get(literal.text) ?? new Set()
      found.set(literal.text, messages)
      for (const text of messagesBeside(literal)) messages.add(text)
    }
  }
  const sorted = [...found].toSorted(([one], [other]) => byText(one, other))
  return sorted.map(([code, messages]) => [code, [...messages].toSorted(byText)])
}

function byText(one, other) {
  return one < other ? -1 : 1
}

/** Without the tables of codes, and without the files that `mortar new` copies. */
function sources() {
  return ['src', 'plugins'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .filter(
        (name) => name.endsWith('.ts') && !/templates|startup-codes|route-codes|(^|\/)dist\//.test(name),
      )
      .toSorted(byText)
      .map((name) => `${folder}/${name}`),
  )
}

function codesIn(node) {
  const own = ts.isStringLiteral(node) && CODE.test(node.text) ? [node] : []
  const children = []
  node.forEachChild((child) => void children.push(child))
  return [...own, ...children.flatMap(codesIn)]
}

/** `{ code, found }`, `new StartupError(message, { code })` and `refuse(code, message)`. */
function messagesBeside(literal) {
  let owner = literal.parent
  while (ts.isConditionalExpression(owner)) owner = owner.parent
  if (ts.isCallExpression(owner)) return firstLines(owner.arguments[owner.arguments.indexOf(literal) + 1])
  if (!ts.isPropertyAssignment(owner) || owner.name.getText() !== 'code') return []
  const object = owner.parent
  const found = object.properties.find(
    (each) => ts.isPropertyAssignment(each) && each.name.getText() === 'found',
  )
  if (found) return firstLines(found.initializer)
  const call = object.parent
  const isCall = ts.isNewExpression(call) || ts.isCallExpression(call)
  const texts = isCall
    ? call.arguments.map((argument) => (argument === object ? [] : firstLines(argument)))
    : []
  return texts.find((each) => each.length > 0) ?? []
}

function firstLines(node) {
  if (node === undefined) return []
  const lines = textsOf(node).map((text) => text.split('\n')[0].trim())
  return lines.filter((line) => (line.match(/[A-Za-z]{2,}/g) ?? []).length >= LEAST_WORDS)
}

/** The initializers of the constants with this name. */
function constantsOf(node, name) {
  const own = ts.isVariableDeclaration(node) && node.name.getText() === name && node.initializer
  const children = []
  node.forEachChild((child) => void children.push(child))
  return [
    ...(own && !ts.isIdentifier(own) ? [own] : []),
    ...children.flatMap((child) => constantsOf(child, name)),
  ]
}

function textsOf(node) {
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression)
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isIdentifier(node)) return constantsOf(node.getSourceFile(), node.text).flatMap(textsOf)
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)]
  if (ts.isBinaryExpression(node))
    return [[node.left, node.right].map((part) => textsOf(part)[0] ?? '…').join('')]
  if (!ts.isTemplateExpression(node)) return []
  return [node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')]
}
