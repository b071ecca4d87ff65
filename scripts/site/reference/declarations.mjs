// Reads the public declarations of each entry point of the packages, as they publish them. TypeScript 7 has no
// compiler API, so this folder has its own TypeScript 5.
import { join, posix } from 'node:path'
import ts from 'typescript'
import { packages } from '../../workspaces.mjs'

const ROOT = join(import.meta.dirname, '../../..')
const OUTPUT = '/declarations'
const DECLARED = /^(?:export )?(?:declare )?/

/**
 * A declaration: its name, `value` or `type`, the file that declares it, its docstring, and its text.
 *
 * @typedef {{ name: string, kind: 'value' | 'type', file: string, doc: string, code: string }} Declared
 *
 * An export is a declaration with the types of this project that its text names.
 *
 * @typedef {Declared & { uses: Declared[] }} Export
 */

/** Entries that export another package as it is. Its own documentation describes them. */
const FOREIGN = ['mortar/yup']

/**
 * The exports of each entry point, in the order of its source.
 *
 * @returns {Array<{ entry: string, exports: Export[] }>} An entry is written as applications import it.
 */
export function readEntries() {
  const entries = packages()
    .flatMap(entriesOf)
    .filter(({ entry }) => !FOREIGN.includes(entry))
  const program = declarationProgram(entries)
  const checker = program.getTypeChecker()
  return entries.map(({ entry, source }) => {
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(declarationOf(source)))
    const exported = checker.getExportsOfModule(symbol).map((each) => readExport(each, checker))
    return { entry, exports: exported }
  })
}

function entriesOf({ folder, manifest }) {
  return Object.entries(manifest.exports)
    .filter(([, target]) => typeof target !== 'string')
    .map(([name, { source }]) => ({
      entry: posix.join(manifest.name, name),
      source: posix.join(folder, source),
    }))
}

/** A program over the declarations, which exist in memory only. */
function declarationProgram(entries) {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail }
  const overrides = { noCheck: true, emitDeclarationOnly: true, outDir: OUTPUT, removeComments: false }
  const { options } = ts.getParsedCommandLineOfConfigFile(join(ROOT, 'tsconfig.build.json'), overrides, host)
  const texts = new Map()
  const files = entries.map(({ source }) => join(ROOT, source))
  const { diagnostics } = ts
    .createProgram(files, options)
    .emit(undefined, (file, text) => texts.set(file, text))
  if (diagnostics.length > 0) fail(diagnostics[0])
  const inMemory = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = inMemory
  inMemory.getSourceFile = (file, ...rest) =>
    texts.has(file) ? ts.createSourceFile(file, texts.get(file), ...rest) : getSourceFile(file, ...rest)
  inMemory.fileExists = (file) => texts.has(file) || fileExists(file)
  inMemory.directoryExists = (folder) => folder.startsWith(OUTPUT) || ts.sys.directoryExists(folder)
  inMemory.readFile = (file) => texts.get(file) ?? ts.sys.readFile(file)
  const paths = Object.fromEntries(entries.map(({ entry, source }) => [entry, [declarationOf(source)]]))
  return ts.createProgram([...texts.keys()], { ...options, paths, noEmit: true }, inMemory)
}

function declarationOf(source) {
  return posix.join(OUTPUT, source).replace(/\.ts$/, '.d.ts')
}

function readExport(exported, checker) {
  const symbol = declaredSymbol(exported, checker)
  const names = (symbol.declarations ?? []).flatMap(typeNamesIn)
  const types = new Set(names.map((name) => declaredSymbol(checker.getSymbolAtLocation(name), checker)))
  types.delete(symbol)
  const uses = [...types].filter(isOwnType).map((type) => describe(type, type.name))
  return { ...describe(symbol, exported.name), uses }
}

function declaredSymbol(symbol, checker) {
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function describe(symbol, name) {
  const [first] = symbol.declarations ?? []
  if (!first) throw new Error(`${name} has no declaration.`)
  return {
    name,
    kind: symbol.flags & ts.SymbolFlags.Value ? 'value' : 'type',
    file: posix.relative(OUTPUT, first.getSourceFile().fileName).replace(/\.d\.ts$/, '.ts'),
    doc: docOf(first),
    code: symbol.declarations.map(codeOf).join('\n'),
  }
}

/** Interfaces, type aliases and classes of the project, without type parameters and types of other packages. */
function isOwnType(symbol) {
  const [declaration] = symbol?.declarations ?? []
  if (!declaration || ts.isTypeParameterDeclaration(declaration)) return false
  return declaration.getSourceFile().fileName.startsWith(`${OUTPUT}/`)
}

/** The docstring with its tags, as plain text. */
function docOf(declaration) {
  const owner = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
  const comments = ts.getJSDocCommentsAndTags(owner).filter(ts.isJSDoc)
  return textOf(comments.at(-1)?.getText() ?? '')
}

function textOf(comment) {
  return comment
    .replaceAll(/^\/\*\*|\*\/$/g, '')
    .replaceAll(/^[ \t]*\* ?/gm, '')
    .trim()
}

/** The declaration as one would write it: without `export declare`, private members and all but the first sentences. */
function codeOf(declaration) {
  const owner = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
  const text = owner.getText().replace(DECLARED, '')
  return text
    .replaceAll(/^\s*(?:#private|private [^\n]*);\n/gm, '')
    .replaceAll(/\/\*\*[^]*?\*\//g, (comment) => `/** ${firstSentence(textOf(comment))} */`)
    .replaceAll(/import\("[^"]*"\)\./g, '')
}

/** The first sentence of a docstring in one line. */
export function firstSentence(text) {
  const line = text.split(/\n\s*\n|\n@/)[0].replaceAll(/\s+/g, ' ')
  return /^.*?[.!?](?=\s+[A-Z`'"]|$)/.exec(line)?.[0] ?? line
}

/** The identifiers of type references below a node. */
function typeNamesIn(node) {
  const own =
    ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)
      ? [node.typeName ?? node.expression]
      : []
  const children = []
  node.forEachChild((child) => void children.push(child))
  return [...own, ...children.flatMap(typeNamesIn)]
}

function fail(diagnostic) {
  throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'))
}
