/**
 * Part of `npm run lint`: finds wordings that a reader has to read twice, in sources, tests and documents. The rules and
 * better wordings are in docs/contributing/plain-english.md. Prints `file:line: "found". Write …` for each and exits 1.
 *
 *     node scripts/check-english.mjs [file …]
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** Pattern and better wording. Patterns are tried on each line. */
export const RULES = [
  [
    /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|later\b)\w+/i,
    '"is not a …", "does not …" or "there is no …"',
  ],
  [/\b(?:is|are|was|were) none\b/, '"is not a …" with the noun'],
  [/\bsays? so\b/, '"reports", "logs" or "throws"'],
  [/\b(?:is|are|was|were) told\b/, '"configured" or "notified"'],
  [/\bheld (?:to|by)\b/, '"checked", "stored" or "kept"'],
  [/\bstands\b|\bstand (?:in|there|beside|at)\b/, '"is", "appears" or "replaces"'],
  [/\bmend(?:s|ed|ing)?\b/i, '"fix" or "repair"'],
  [/\bvouch/, '"authenticate" or "confirm"'],
  [/\bthe present\b/, '"current"'],
  [/\bat once\b/i, '"immediately" or "together"'],
  [/\ba text\b(?! (?:part|file|column|node|field|message))/, '"a string" or "text"'],
  [/\bfor one(?=[.,;:)]| that\b| which\b| who\b)/, 'the noun'],
  [/\bcom(?:es|ing) of\b/, '"results from"'],
  [/\blooked at\b/, '"inspected", "read" or "checked"'],
  [/\bwhat is /, 'the noun'],
  [/\b(?:an|the|its|this|that|each|every|no) answers?\b/i, '"response"'],
  [/\bdoors?\b/i, '"listener", "adapter" or "entry point"'],
  [/\bhouse\b/i, '"application" or "repository"'],
  [/\broads?\b/i, '"request path"'],
  [/\bthe long way\b/, '"the slow path"'],
]

const QUESTION_DOCSTRING = /\/\*\*\s*(?:\*\s*)?(What|Who|Whether|Where|How)\b/g

/** Files in which the words are subject matter or data: this list, the rules, other people's names. */
const EXEMPT = [
  /^scripts\/check-english\.mjs$/,
  /^docs\/contributing\/plain-english\.md$/,
  /^test\/scripts\/check-english\.test\.ts$/,
  /^CHANGELOG\.md$/,
  /^plugins\/auth\/.*weak-passwords\//,
  /package-lock\.json$/,
  /^bench\/results\//,
]

const READ = /\.(?:ts|mts|js|mjs|md)$|^\.ci\/run$/

/**
 * Finds the wordings to avoid in one file.
 *
 * @returns {Array<{ line: number, found: string, instead: string }>} Lines count from 1, in the order of the file.
 */
export function findWordings(text) {
  const findings = []
  for (const [index, line] of text.split('\n').entries()) {
    for (const [pattern, instead] of RULES) {
      const found = pattern.exec(line)
      if (found) findings.push({ line: index + 1, found: found[0], instead })
    }
  }
  for (const found of text.matchAll(QUESTION_DOCSTRING)) {
    const line = text.slice(0, found.index + found[0].length).split('\n').length
    findings.push({ line, found: found[1], instead: 'a docstring that opens with a noun or a verb' })
  }
  return findings.toSorted((one, other) => one.line - other.line)
}

function listFiles() {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  })
  return listed.toString().split('\0').filter(Boolean)
}

function main(given) {
  const files = given.length > 0 ? given.map((file) => relative(ROOT, resolve(file))) : listFiles()
  let count = 0
  for (const file of files) {
    if (!READ.test(file) || EXEMPT.some((pattern) => pattern.test(file))) continue
    for (const { line, found, instead } of findWordings(readFileSync(join(ROOT, file), 'utf8'))) {
      count += 1
      process.stdout.write(`${file}:${line}: "${found}". Write ${instead}.\n`)
    }
  }
  if (count > 0) process.stdout.write(`${count} wordings to avoid; see docs/contributing/plain-english.md.\n`)
  return count === 0 ? 0 : 1
}

if (process.argv[1] === import.meta.filename) process.exitCode = main(process.argv.slice(2))
