import { parseSync } from '@swc/core'

/** A node of a syntax tree as the compiler of the tests has it. */
export type Node = Readonly<Record<string, unknown>> & { readonly type: string }

/** The syntax tree of a TypeScript source. */
export function treeOf(source: string): Node {
  const tree: unknown = parseSync(source, { syntax: 'typescript', target: 'es2022' })
  if (!isNode(tree)) throw new TypeError('The parser gave no tree.')
  return tree
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Every node right below this one, in the order of the source; lists and wrappers without a type are seen through. */
export function childrenOf(node: object): readonly Node[] {
  const found: Node[] = []
  collectChildren(node, found)
  return found
}

// Tests walk every source of the project, so that a list for each place of a node would count.
function collectChildren(node: object, found: Node[]): void {
  for (const value of Object.values(node)) {
    if (isNode(value)) found.push(value)
    else if (typeof value === 'object' && value !== null) collectChildren(value, found)
  }
}

/** The expressions of an argument list. */
export function argumentsOf(call: Node): readonly Node[] {
  return Array.isArray(call['arguments']) ? call['arguments'].flatMap((one: object) => childrenOf(one)) : []
}

/** The text of a name or of a literal. */
export function valueOf(node: unknown): string {
  return isNode(node) && typeof node['value'] === 'string' ? node['value'] : ''
}

/** What each `const name = …` of a source stands for. */
export function constantsOf(tree: Node): ReadonlyMap<string, Node> {
  const found = new Map<string, Node>()
  const visit = (node: Node): void => {
    const name = node.type === 'VariableDeclarator' ? valueOf(node['id']) : ''
    // What is taken apart has no name of its own.
    if (name !== '' && isNode(node['init'])) found.set(name, node['init'])
    for (const child of childrenOf(node)) visit(child)
  }
  visit(tree)
  return found
}

/** The text that an expression is, holes left empty; undefined when only a run would tell. */
export function textOf(node: Node | undefined, constants: ReadonlyMap<string, Node>): string | undefined {
  if (node === undefined) return undefined
  if (node.type === 'StringLiteral') return valueOf(node)
  if (node.type === 'TemplateLiteral' && Array.isArray(node['quasis']))
    return node['quasis'].map((quasi: Node) => String(quasi['cooked'] ?? quasi['raw'])).join('%s')
  if (node.type === 'Identifier') return textOf(constants.get(valueOf(node)), constants)
  if (node.type !== 'BinaryExpression' || !isNode(node['left']) || !isNode(node['right'])) return undefined
  const [left, right] = [textOf(node['left'], constants), textOf(node['right'], constants)]
  return left === undefined || right === undefined ? undefined : left + right
}
