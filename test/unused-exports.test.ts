import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argumentsOf, childrenOf, isNode, treeOf, valueOf, type Node } from './rules/report/syntax'

// An export that no other file uses is no part of what a room offers, and hides what is.

const root = join(__dirname, '..')
const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
    .map((file) => join(folder, file))

/** The files that hosts reach by the package. */
const entries = new Set(['lib/index.ts', 'lib/testing/index.ts', 'lib/command-line/main.ts'])
const all = '*'

interface Module {
  readonly exported: readonly string[]
  /** What the file takes from others: the names, or `*`, by the path of the file. */
  readonly used: readonly (readonly [file: string, name: string])[]
}

function moduleOf(file: string, source: string): Module {
  const [exported, used]: [string[], [string, string][]] = [[], []]
  const take = (from: unknown, name: string) => {
    const target = isNode(from) ? fileOf(file, valueOf(from)) : undefined
    if (target !== undefined) used.push([target, name])
  }
  const visit = (node: Node): void => {
    if (node.type === 'ExportDeclaration' && isNode(node['declaration']))
      exported.push(...namesOf(node['declaration']))
    if (node.type === 'ExportNamedDeclaration' || node.type === 'ImportDeclaration')
      for (const specifier of specifiersOf(node)) take(node['source'], nameOf(specifier))
    // A call with a path, such as `require` or `import()`, may use every export.
    if (node.type === 'CallExpression') for (const argument of argumentsOf(node)) take(argument, all)
    if (node.type === 'TsImportType') take(node['argument'], all)
    for (const child of childrenOf(node)) visit(child)
  }
  visit(treeOf(source))
  return { exported, used }
}

const specifiersOf = ({ specifiers }: Node): readonly Node[] =>
  Array.isArray(specifiers) ? specifiers.filter(isNode) : []

function namesOf(declaration: Node): readonly string[] {
  if (declaration.type !== 'VariableDeclaration')
    return [valueOf(declaration['identifier']) || valueOf(declaration['id'])]
  return childrenOf(declaration).map((declarator) => valueOf(declarator['id']))
}

/** The name that an import or a second export takes, under its first name. */
function nameOf(specifier: Node): string {
  if (specifier.type === 'ImportSpecifier')
    return valueOf(specifier['imported']) || valueOf(specifier['local'])
  return specifier.type === 'ExportSpecifier' ? valueOf(specifier['orig']) : all
}

function fileOf(importer: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  const path = join(dirname(importer), specifier)
  return [path, `${path}.ts`, join(path, 'index.ts')].find(
    (file) => file.endsWith('.ts') && existsSync(join(root, file)),
  )
}

/** The exports that no other file uses, as `file: name`. */
function unusedIn(modules: ReadonlyMap<string, Module>): readonly string[] {
  const used = new Set([...modules.values()].flatMap((module) => module.used.map((each) => each.join(': '))))
  return [...modules]
    .filter(([file]) => file.startsWith('lib/') && !entries.has(file) && !used.has(`${file}: ${all}`))
    .flatMap(([file, { exported }]) => exported.map((name) => `${file}: ${name}`))
    .filter((each) => !used.has(each))
}

const modules = new Map(
  ['lib', 'test', 'demo', 'bench', 'docs/examples']
    .flatMap(filesIn)
    .map((file) => [file, moduleOf(file, readFileSync(join(root, file), 'utf8'))]),
)

test('another file uses each export of lib/', () => {
  expect(unusedIn(modules)).toEqual([])
})

test('an unused export is noticed, and one that an import or a second export takes is not', () => {
  const file = 'lib/protocol/scope.ts'
  const source = 'export const one = 1\nexport function two() {}\nexport type Three = 3\nexport class Four {}'
  const unusedBeside = (user: string) =>
    unusedIn(
      new Map([
        [file, moduleOf(file, source)],
        ['lib/index.ts', moduleOf('lib/index.ts', user)],
      ]),
    )
  const unused = (...names: readonly string[]) => names.map((name) => `${file}: ${name}`)
  expect(unusedBeside('')).toEqual(unused('one', 'two', 'Three', 'Four'))
  expect(unusedBeside("import { one as first, type Three } from './properties/scope'")).toEqual(
    unused('two', 'Four'),
  )
  expect(unusedBeside("export { two, Four as five } from './properties/scope'")).toEqual(
    unused('one', 'Three'),
  )
  for (const whole of ["import * as a from './properties/scope'", "const a = require('./properties/scope')"])
    expect(unusedBeside(whole)).toEqual([])
})
