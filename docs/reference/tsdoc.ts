import { join } from 'node:path'
import ts from 'typescript-5.9'

/** A member of an interface, as its TSDoc explains it. */
export interface Member {
  readonly name: string
  /** As TypeScript writes it. */
  readonly type: string
  /** Of a function, an object or a choice of texts, where a reader needs it; or else empty. */
  readonly shape: string
  /** In Markdown, on one line. */
  readonly text: string
  /** Paths of pages, from `@see`. */
  readonly see: readonly string[]
}

export const root = join(__dirname, '../..')
const program = ts.createProgram(
  ['lib/config/options.ts', 'lib/server/guard.ts', 'lib/audit/events.ts'].map((file) => join(root, file)),
  { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true, types: ['node'] },
)
const checker = program.getTypeChecker()
const isOurs = (fileName: string) => fileName.startsWith(join(root, 'lib/'))
const interfaces = new Map(
  program
    .getSourceFiles()
    .filter(({ fileName }) => isOurs(fileName))
    .flatMap(({ statements }) => statements.filter(ts.isInterfaceDeclaration))
    .map((declaration) => [declaration.name.text, declaration]),
)

/** Of an interface, with the members that it inherits. */
export function membersOf(name: string): readonly Member[] {
  const declaration = interfaces.get(name)
  if (declaration === undefined) throw new Error(`No interface is named ${name}.`)
  return checker.getTypeAtLocation(declaration).getProperties().map(memberOf)
}

function memberOf(symbol: ts.Symbol): Member {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker))
  const see = symbol.getJsDocTags(checker).filter(({ name }) => name === 'see')
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(symbol))
  return {
    name: symbol.name,
    type: checker.typeToString(type),
    shape: shapeOf(type),
    text: text.replaceAll(/\{@link (\w+)\}/g, '`$1`').replaceAll(/\s+/g, ' '),
    // The compiler parts a path after its first word.
    see: see.map((tag) => ts.displayPartsToString(tag.text).replaceAll(' ', '')),
  }
}

function shapeOf(type: ts.Type): string {
  const parts = type.isUnion() ? type.types : [type]
  const texts = parts.flatMap((part) => (part.isStringLiteral() ? [`'${part.value}'`] : []))
  const shapes = parts.flatMap((part) => functionOf(part) ?? objectOf(part) ?? [])
  return (texts.length > 1 ? texts : shapes).map((shape) => `\`${shape}\``).join(' or ')
}

/** The members of larger objects would fill the page: a guide explains them. */
const mostShown = 6

function functionOf(type: ts.Type): string | undefined {
  const [signature] = type.getCallSignatures()
  if (signature === undefined) return undefined
  const parameters = signature.getParameters().map((parameter) => {
    return objectOf(checker.getTypeOfSymbol(parameter)) ?? parameter.name
  })
  return `(${parameters.join(', ')})`
}

/** Only of data, such as options: the members of others, such as a store, say nothing here. */
function objectOf(type: ts.Type): string | undefined {
  const members = type.getProperties()
  if (members.length > mostShown) return undefined
  const isData = members.every(({ declarations = [] }) =>
    declarations.every((at) => ts.isPropertySignature(at) && isOurs(at.getSourceFile().fileName)),
  )
  return members.length > 0 && isData ? `{ ${members.map(({ name }) => name).join(', ')} }` : undefined
}
