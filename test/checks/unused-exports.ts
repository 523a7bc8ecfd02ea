// An export that no other file uses is no part of what a room offers, and hides what is: `npm run lint` fails on it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript-5.9'

const root = join(__dirname, '../..')
/** The files that hosts reach by the package. */
const entries = new Set([
  'lib/index.ts',
  'lib/command-line/main.ts',
  ...readdirSync(join(root, 'lib/paths')).map((file) => `lib/paths/${file}`),
])
/** What other files take, as `file: name`; `*` is all that a file exports. */
const used = new Set<string>()
const exported: string[] = []

function fileOf(importer: string, specifier: ts.Node | undefined): string | undefined {
  if (specifier === undefined || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith('.'))
    return undefined
  const path = join(dirname(importer), specifier.text)
  return [path, `${path}.ts`, join(path, 'index.ts')].find(
    (file) => file.endsWith('.ts') && existsSync(join(root, file)),
  )
}

/** The names that an import or a second export takes, under their first names. */
function namesOf(node: ts.ImportDeclaration | ts.ExportDeclaration): readonly string[] {
  const named = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause
  if (named === undefined || !(ts.isNamedImports(named) || ts.isNamedExports(named))) return ['*']
  return named.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
}

const isNamed = (node: ts.Node) =>
  ts.isVariableDeclaration(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isEnumDeclaration(node)

function read(file: string): void {
  const take = (specifier: ts.Node | undefined, names: readonly string[]) => {
    const target = fileOf(file, specifier)
    if (target !== undefined) for (const name of names) used.add(`${target}: ${name}`)
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
      take(node.moduleSpecifier, namesOf(node))
    // A call with a path, such as `require` or `import()`, may use every export.
    if (ts.isCallExpression(node)) for (const argument of node.arguments) take(argument, ['*'])
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) take(node.argument.literal, ['*'])
    ts.forEachChild(node, visit)
  }
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ES2022)
  visit(source)
  if (!file.startsWith('lib/') || entries.has(file)) return
  for (const statement of source.statements) {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    if (!isExported) continue
    const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement]
    for (const each of declared)
      if (isNamed(each) && each.name !== undefined && ts.isIdentifier(each.name))
        exported.push(`${file}: ${each.name.text}`)
  }
}

for (const folder of ['lib', 'test', 'demo', 'bench', 'docs/examples', 'docs/reference'])
  for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.ts') && !file.includes('node_modules')) read(join(folder, file))
const unused = exported.filter((each) => !used.has(each) && !used.has(each.replace(/: .*/, ': *')))
for (const each of unused) console.error(`No other file uses ${each}`)
process.exitCode = unused.length > 0 ? 1 : 0
