import ts from 'typescript-5.9'

/** The name under which instrumented code finds the journal. */
export const journalName = '__journal'

/**
 * Returns a script whose functions tell the journal when they begin and end. A function that awaits has ended for that
 * time: the journal follows what runs. Generators stay as they are.
 */
export function instrument(script: string, file: string): string {
  const source = ts.createSourceFile(file, script, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS)

  const written = (node: ts.Node): string => (isBody(node) ? followed(node) : suspended(node))

  const suspended = (node: ts.Node): string =>
    ts.isAwaitExpression(node)
      ? ` ${journalName}.resume(__frame, await ${journalName}.suspend(__frame, ${written(node.expression)}))`
      : copied(node)

  const copied = (node: ts.Node): string => {
    let text = ''
    let at = node.pos
    ts.forEachChild(node, (child) => {
      text += script.slice(at, child.pos) + written(child)
      at = child.end
    })
    return text + script.slice(at, node.end)
  }

  const followed = (body: ts.Node): string => {
    const place = `${JSON.stringify(file)}, ${JSON.stringify(String(body.pos))}`
    const statements = ts.isBlock(body) ? copied(body) : `return (${suspended(body)})`
    return ` { const __frame = ${journalName}.enter(${place}); try { ${statements} } finally { ${journalName}.leave(__frame) } }`
  }

  return copied(source)
}

function isBody(node: ts.Node): boolean {
  const owner = node.parent
  if (!ts.isFunctionLike(owner) || !('body' in owner) || owner.body !== node) return false
  return !('asteriskToken' in owner) || owner.asteriskToken === undefined
}
