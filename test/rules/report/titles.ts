import { argumentsOf, childrenOf, constantsOf, isNode, textOf, treeOf, valueOf, type Node } from './syntax'

/** A title that a source gives tests, with the ids that it names. */
export interface Title {
  /** Undefined when it is not written where it stands, so that its ids are unknown. */
  readonly text: string | undefined
  readonly ids: readonly string[]
}

const runner = /^(?:test|it|describe\w*)$/
const silent = new Set(['skip', 'todo', 'failing', 'xit', 'xtest', 'xdescribe'])

/** What is called, `test.only.each(table)` for one, as its words and the tables of it. */
interface Callee {
  readonly words: readonly string[]
  readonly tables: readonly Node[]
}

/**
 * The titles of the tests in a source, those of a group too. A title that a table fills in has the ids of the texts in
 * its table. What is skipped proves nothing and is left out with all that it holds.
 */
export function titlesOf(source: string): readonly Title[] {
  const tree = treeOf(source)
  const constants = constantsOf(tree)
  const visit = (node: Node): readonly Title[] => {
    const { words, tables } = calleeOf(node['callee'])
    const called = node.type === 'CallExpression' ? words : []
    if (called.some((word) => silent.has(word)) && runner.test((called[0] ?? '').replace(/^x/, ''))) return []
    const below = childrenOf(node).flatMap(visit)
    if (!runner.test(called[0] ?? '') || called.at(-1) === 'each') return below
    const text = textOf(argumentsOf(node)[0], constants)
    const filled = /%[spjdo#]|\$\w/.test(text ?? '')
      ? tables.flatMap((table) => textsIn(table, constants))
      : []
    return [{ text, ids: [...leadingIds(text ?? ''), ...filled.flatMap(idsIn)] }, ...below]
  }
  return visit(tree)
}

function calleeOf(callee: unknown): Callee {
  if (!isNode(callee)) return { words: [], tables: [] }
  if (callee.type === 'Identifier') return { words: [valueOf(callee)], tables: [] }
  if (callee.type === 'MemberExpression') {
    const { words, tables } = calleeOf(callee['object'])
    return { words: [...words, valueOf(callee['property'])], tables }
  }
  if (callee.type === 'CallExpression') return tableOf(calleeOf(callee['callee']), argumentsOf(callee))
  if (callee.type === 'TaggedTemplateExpression' && isNode(callee['template']))
    return tableOf(calleeOf(callee['tag']), [callee['template']])
  return { words: [''], tables: [] }
}

const tableOf = ({ words, tables }: Callee, more: readonly Node[]): Callee => ({
  words: [...words, '()'],
  tables: [...tables, ...more],
})

/** Every text in an expression, and in the constants that it names. */
function textsIn(
  node: Node,
  constants: ReadonlyMap<string, Node>,
  seen: ReadonlySet<string> = new Set(),
): readonly string[] {
  const name = node.type === 'Identifier' ? valueOf(node) : ''
  const constant = seen.has(name) ? undefined : constants.get(name)
  if (constant !== undefined) return textsIn(constant, constants, new Set([...seen, name]))
  const text = name === '' ? textOf(node, constants) : undefined
  const below = childrenOf(node).flatMap((child) => textsIn(child, constants, seen))
  return text === undefined ? below : [text, ...below]
}

/** What stands in the brackets that a title begins with is an id, even if it does not look like one; later, if it does. */
function leadingIds(title: string): readonly string[] {
  const [beginning] = /^(?:\[[^\]]*\]\s*)*/.exec(title) ?? ['']
  const leading = [...beginning.matchAll(/\[([^\]]*)\]/g)].flatMap(([, ids = '']) => ids.split(', '))
  return [...leading, ...idsIn(title.slice(beginning.length))]
}

function idsIn(text: string): readonly string[] {
  return [...text.matchAll(/\[([A-Z]+-\d+(?:, [A-Z]+-\d+)*)\]/g)].flatMap(([, ids = '']) => ids.split(', '))
}
