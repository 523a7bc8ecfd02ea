import ts from 'typescript-5.9'

/** A stretch of a source file. */
export interface Place {
  readonly file: string
  readonly start: number
  readonly end: number
}

/**
 * Finds the only place in the sources where a text stands inside a declaration; undefined when the text has moved or was
 * rewritten, or stands there more than once.
 *
 * @param sources texts by file.
 * @param declaration a function, constant or type at the top of a file, or `Class.member`.
 */
export function placeOf(
  sources: ReadonlyMap<string, string>,
  declaration: string,
  text: string,
): Place | undefined {
  const pattern = patternOf(text)
  const found: Place[] = []
  for (const [file, source] of sources) {
    if (!source.includes(declaration.split('.')[0] ?? '')) continue
    for (const { pos, end } of declarationsIn(file, source, declaration))
      for (const match of source.slice(pos, end).matchAll(pattern))
        found.push({ file, start: pos + match.index, end: pos + match.index + match[0].length })
  }
  return found.length === 1 ? found[0] : undefined
}

// The formatter may break a line anywhere between two words.
function patternOf(text: string): RegExp {
  const words = text.split(/\s+/).map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(words.join('\\s+'), 'g')
}

function declarationsIn(file: string, source: string, declaration: string): readonly ts.TextRange[] {
  const [name = '', member] = declaration.split('.')
  const { statements } = ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, true)
  const declarations = statements.filter((statement) => namesOf(statement).includes(name))
  if (member === undefined) return declarations
  return declarations.flatMap((statement) =>
    ts.isClassDeclaration(statement)
      ? statement.members.filter((each) => (each.name?.getText() ?? 'constructor') === member)
      : [],
  )
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText())
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement)
  return isNamed && statement.name !== undefined ? [statement.name.text] : []
}
