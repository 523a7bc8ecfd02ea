import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { argumentsOf, childrenOf, isNode, treeOf, valueOf, type Node } from '../report/syntax'

const lib = join(__dirname, '../../../lib')
const home = readFileSync(join(lib, 'protocol/oauth-error.ts'), 'utf8')

/** The factory of each error code, as protocol/oauth-error.ts has them. */
export const factories: ReadonlyMap<string, string> = new Map(
  [...home.matchAll(/^export const (\w+) = refusal\('(\w+)'\)/gm)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
)

/** A place in the sources that gives an error its text. */
export interface Written {
  readonly file: string
  /** Undefined where it is not written there; what a hole is filled with stands in `${…}`. */
  readonly text: string | undefined
}

const holes = new Set(['name', 'fault', 'endpoint', 'method'])

/** A text that stands in the source, with no other holes than those that our own words fill. */
function fixedText(node: Node | undefined): string | undefined {
  if (node?.type === 'StringLiteral') return valueOf(node)
  if (node?.type !== 'TemplateLiteral') return undefined
  const { quasis, expressions } = node
  if (!Array.isArray(quasis) || !Array.isArray(expressions)) return undefined
  const names = expressions.map((hole: Node) => (hole.type === 'Identifier' ? valueOf(hole) : ''))
  if (!names.every((name) => holes.has(name))) return undefined
  return quasis
    .map((part: Node, index) => String(part['cooked']) + (names[index] ? `\${${names[index]}}` : ''))
    .join('')
}

function everyNode(node: Node): readonly Node[] {
  return [node, ...childrenOf(node).flatMap(everyNode)]
}

const trees = readdirSync(lib, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, nodes: everyNode(treeOf(readFileSync(join(lib, file), 'utf8'))) }))

/** The calls in the sources that this chooses, and what they write as their argument of this index. */
function writtenBy(chooses: (node: Node, file: string) => boolean, argument: number): readonly Written[] {
  return trees.flatMap(({ file, nodes }) =>
    nodes
      .filter((node) => chooses(node, file))
      .map((node) => ({ file, text: fixedText(argumentsOf(node)[argument]) })),
  )
}

const calleeOf = ({ callee }: Node): Node | undefined => (isNode(callee) ? callee : undefined)
const asNode = (value: unknown): Node | undefined => (isNode(value) ? value : undefined)

/** Every text that a factory is called with. */
export const calls = writtenBy(
  (node) => node.type === 'CallExpression' && factories.has(valueOf(calleeOf(node))),
  1,
)

/** Every fault that a description of a parameter ends with. */
export const faults: readonly Written[] = trees
  .filter(({ file }) => file === join('protocol', 'parameters.ts'))
  .flatMap(({ file, nodes }) =>
    nodes
      .filter(({ type, init }) => type === 'VariableDeclarator' && fixedText(asNode(init)) !== undefined)
      .map(({ init }) => ({ file, text: fixedText(asNode(init)) })),
  )

/** Errors that are made around the factories. */
export const aroundFactories = writtenBy(
  (node, file) =>
    node.type === 'NewExpression' &&
    valueOf(calleeOf(node)) === 'OAuthError' &&
    basename(file) !== 'oauth-error.ts',
  2,
)

/** Every description that is a text by itself: of a refused access, and of a method that is not allowed. */
export const descriptions = trees.flatMap(({ file, nodes }) =>
  nodes
    .filter(({ id, key }) => [id, key].some((name) => valueOf(name) === 'description'))
    .map(({ init, value }) => ({ file, text: fixedText([init, value].find(isNode)) })),
)

/** What a refused access is told with; a name stands for a description above. */
export const accessRefusals: readonly string[] = trees.flatMap(({ nodes }) =>
  nodes
    .filter((node) => node.type === 'NewExpression' && valueOf(calleeOf(node)) === 'AccessRefusal')
    .map((node) => argumentsOf(node)[3])
    .map((node) => (node?.type === 'Identifier' ? valueOf(node) : (fixedText(node) ?? 'not fixed'))),
)

/** The texts that an error may have on the wire. */
export const shapes: readonly RegExp[] = [...calls, ...descriptions].flatMap(({ text }) =>
  text === undefined ? [] : [shapeOf(text)],
)

function shapeOf(text: string): RegExp {
  const literal = text.replace(/[.*+?^()|[\]\\]/g, '\\$&')
  return new RegExp(`^${literal.replace(/\$\{\w+\}/g, String.raw`[\w -]+`)}$`)
}
