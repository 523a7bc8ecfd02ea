import ts from 'typescript-5.9'

/** The name under which instrumented code finds the journal. */
export const journalName = '__journal'

/**
 * Returns a script whose functions tell the journal when they begin and end. A function that awaits has ended for that
 * time: the journal follows what runs.
 */
export function instrument(script: string, file: string): string {
  const source = ts.createSourceFile(file, script, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS)
  const { transformed } = ts.transform(source, [(context) => (root) => visited(root, context, file)])
  const [result] = transformed
  if (result === undefined) throw new Error(`${file} cannot be instrumented.`)
  return ts.createPrinter().printFile(result)
}

function visited(root: ts.SourceFile, context: ts.TransformationContext, file: string): ts.SourceFile {
  const { factory } = context
  const journal = (method: string, ...given: ts.Expression[]) =>
    factory.createCallExpression(
      factory.createPropertyAccessExpression(factory.createIdentifier(journalName), method),
      undefined,
      given,
    )
  const frame = () => factory.createIdentifier('__frame')

  const wrapped = (statements: readonly ts.Statement[], name: string): ts.Block =>
    factory.createBlock([
      factory.createVariableStatement(
        undefined,
        factory.createVariableDeclarationList(
          [
            factory.createVariableDeclaration(
              '__frame',
              undefined,
              undefined,
              journal('enter', factory.createStringLiteral(file), factory.createStringLiteral(name)),
            ),
          ],
          ts.NodeFlags.Const,
        ),
      ),
      factory.createTryStatement(
        factory.createBlock(statements, true),
        undefined,
        factory.createBlock([factory.createExpressionStatement(journal('leave', frame()))]),
      ),
    ])

  const visit = (node: ts.Node): ts.Node => {
    const position = ts.getLineAndCharacterOfPosition(root, Math.max(node.pos, 0))
    const inner = ts.visitEachChild(node, visit, context)
    if (ts.isAwaitExpression(inner))
      return journal(
        'resume',
        frame(),
        factory.createAwaitExpression(journal('suspend', frame(), inner.expression)),
      )
    if (!ts.isFunctionLike(inner) || !('body' in inner) || isGenerator(inner)) return inner
    const name = `${position.line}:${position.character}`
    if (ts.isArrowFunction(inner)) {
      const statements = ts.isBlock(inner.body)
        ? inner.body.statements
        : [factory.createReturnStatement(inner.body)]
      const { modifiers, parameters, equalsGreaterThanToken } = inner
      const body = wrapped(statements, name)
      return factory.updateArrowFunction(
        inner,
        modifiers,
        undefined,
        parameters,
        undefined,
        equalsGreaterThanToken,
        body,
      )
    }
    if (!hasBlock(inner)) return inner
    return withBody(factory, inner, wrapped(inner.body.statements, name))
  }
  return ts.visitEachChild(root, visit, context)
}

type WithBlock = (
  | ts.FunctionDeclaration
  | ts.FunctionExpression
  | ts.MethodDeclaration
  | ts.ConstructorDeclaration
  | ts.GetAccessorDeclaration
  | ts.SetAccessorDeclaration
) & { readonly body: ts.Block }

const hasBlock = (node: ts.Node): node is WithBlock =>
  (ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isConstructorDeclaration(node) ||
    ts.isAccessor(node)) &&
  node.body !== undefined

const isGenerator = (node: ts.Node) => 'asteriskToken' in node && node.asteriskToken !== undefined

function withBody(factory: ts.NodeFactory, node: WithBlock, body: ts.Block): ts.Node {
  const { modifiers, parameters } = node
  if (ts.isFunctionDeclaration(node))
    return factory.updateFunctionDeclaration(
      node,
      modifiers,
      undefined,
      node.name,
      undefined,
      parameters,
      undefined,
      body,
    )
  if (ts.isFunctionExpression(node))
    return factory.updateFunctionExpression(
      node,
      node.modifiers,
      undefined,
      node.name,
      undefined,
      parameters,
      undefined,
      body,
    )
  if (ts.isMethodDeclaration(node))
    return factory.updateMethodDeclaration(
      node,
      modifiers,
      undefined,
      node.name,
      undefined,
      undefined,
      parameters,
      undefined,
      body,
    )
  if (ts.isConstructorDeclaration(node))
    return factory.updateConstructorDeclaration(node, modifiers, parameters, body)
  if (ts.isGetAccessorDeclaration(node))
    return factory.updateGetAccessorDeclaration(node, modifiers, node.name, parameters, undefined, body)
  return factory.updateSetAccessorDeclaration(node, modifiers, node.name, parameters, body)
}
