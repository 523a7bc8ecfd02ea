// Breaks the library at places chosen at random, and tells which breaks no test notices.
//
//   npm run breaks                                  60 breaks anywhere in lib/
//   npm run breaks -- --count 20 --seed 7 lib/dpop  20 breaks in these files or folders
//   npm run breaks -- --tests test/rules            runs the tests below this folder, whatever lines they run
//   npm run breaks -- --fresh                       asks again which tests run which lines (a run of the whole suite)
//
// A break turns a condition or an operator round, or takes a statement away. The tests that ran its line run again in a
// copy of the project, those that run most of its file first, until one fails.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript-5.9'

interface Break {
  readonly file: string
  readonly line: number
  /** Where its statement begins, and each one around that: coverage knows a long statement by its first line. */
  readonly outer: readonly number[]
  readonly start: number
  readonly end: number
  readonly replacement: string
  readonly what: string
}

interface TestFile {
  readonly project: string
  readonly path: string
  readonly milliseconds: number
  /** The lines that it runs; undefined where nobody asked. */
  readonly lines?: Readonly<Record<string, readonly number[]>>
}

const root = join(__dirname, '..')
const covered = join(root, 'node_modules/.cache/covered-lines.json')

const swapped: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
])

/** Every break that can be made in a source file. */
function breaksIn(file: string): readonly Break[] {
  const text = fs.readFileSync(join(root, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true)
  const breaks: Break[] = []
  const add = (node: ts.Node, replacement: string, what: string) => {
    const [start, end] = [node.getStart(), node.end]
    const lineOf = (at: ts.Node) => source.getLineAndCharacterOfPosition(at.getStart()).line + 1
    const line = lineOf(node)
    const outer: number[] = []
    for (let at = node; !ts.isSourceFile(at); at = at.parent) outer.push(lineOf(at))
    const short = node.getText().replaceAll(/\s+/g, ' ').slice(0, 90)
    breaks.push({ file, line, outer, start, end, replacement, what: `${what}: ${short}` })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return
    if (ts.isIfStatement(node)) add(node.expression, `!(${node.expression.getText()})`, 'negated')
    if (ts.isConditionalExpression(node)) add(node.condition, `!(${node.condition.getText()})`, 'negated')
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
      add(node, node.operand.getText(), 'not negated')
    if (ts.isBinaryExpression(node)) {
      const other = swapped.get(node.operatorToken.kind)
      const replacement = `${node.left.getText()} ${other} ${node.right.getText()}`
      if (other !== undefined) add(node, replacement, `${node.operatorToken.getText()} became ${other}`)
    }
    if (ts.isThrowStatement(node)) add(node, ';', 'taken away')
    const isCall = ts.isExpressionStatement(node) && !ts.isStringLiteral(node.expression)
    if (isCall && !node.getText().startsWith('super(')) add(node, ';', 'taken away')
    if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'false', 'turned')
    if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'true', 'turned')
    ts.forEachChild(node, visit)
  }
  visit(source)
  return breaks
}

function sourcesUnder(places: readonly string[]): readonly string[] {
  const files = fs
    .readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `lib/${file}`)
  return files.filter((file) => places.some((place) => file.startsWith(place))).toSorted()
}

/** Chooses without repetition; the same seed chooses the same. */
function chooseFrom<Item>(items: readonly Item[], count: number, seed: number): readonly Item[] {
  const left = [...items]
  const chosen: Item[] = []
  let state = seed
  while (chosen.length < count && left.length > 0) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    chosen.push(...left.splice(Math.floor((state / 2 ** 32) * left.length), 1))
  }
  return chosen
}

async function jest(folder: string, words: readonly string[], seconds: number, more: NodeJS.ProcessEnv = {}) {
  const command = [join(root, 'node_modules/jest/bin/jest.js'), ...words, '--ci', '--forceExit']
  const child = spawn(process.execPath, command, {
    cwd: folder,
    env: { ...process.env, ...more },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  return { isGreen: code === 0, hung: code === null, printed }
}

async function linesOfTests(isFresh: boolean): Promise<readonly TestFile[]> {
  if (isFresh || !fs.existsSync(covered)) {
    fs.mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
    const reporter = join(root, 'test/support/covered-lines.js')
    const collect = ['--coverage', '--coverageReporters=none', '--collectCoverageFrom=lib/**/*.ts']
    await jest(root, [...collect, `--reporters=${reporter}`], 3600, { COVERED_LINES: covered })
  }
  return JSON.parse(fs.readFileSync(covered, 'utf8'))
}

function testsBelow(folders: readonly string[]): readonly TestFile[] {
  const files = fs.readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  return files
    .map((file) => `test/${file}`)
    .filter((file) => file.endsWith('.test.ts') && folders.some((folder) => file.startsWith(folder)))
    .map((path) => ({ project: 'suite', path, milliseconds: fs.statSync(join(root, path)).size }))
}

/** What the tests around a break say of it: the first that fails, or nothing. */
async function noticed(
  copy: string,
  { file, outer, start, end, replacement }: Break,
  tests: readonly TestFile[],
) {
  // Those that run most of the file say the most of it.
  const share = ({ lines }: TestFile) => lines?.[file]?.length ?? 0
  const line = outer.find((one) => tests.some(({ lines }) => lines?.[file]?.includes(one)))
  const around = tests
    .filter(({ lines }) => lines === undefined || (line !== undefined && lines[file]?.includes(line)))
    .toSorted((a, b) => share(b) - share(a) || a.milliseconds - b.milliseconds)
  if (around.length === 0) return 'SURVIVED: no test runs it'
  const text = fs.readFileSync(join(root, file), 'utf8')
  fs.writeFileSync(join(copy, file), text.slice(0, start) + replacement + text.slice(end))
  try {
    // A few first: most breaks are seen at once.
    for (const some of [around.slice(0, 6), around.slice(6)].filter(({ length }) => length > 0)) {
      const paths = some.map(({ path }) => join(copy, path))
      const projects = [...new Set(some.map(({ project }) => project))]
      const { isGreen, hung, printed } = await jest(
        copy,
        ['--bail', '--maxWorkers=1', '--runTestsByPath', ...paths, '--selectProjects', ...projects],
        900,
      )
      if (!isGreen)
        return `red: ${hung ? 'a test never ended' : (/● (.*)/.exec(printed)?.[1] ?? 'a test file did not run')}`
    }
    return `SURVIVED ${around.length} test files`
  } finally {
    fs.writeFileSync(join(copy, file), text)
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '60' },
      seed: { type: 'string' },
      tests: { type: 'string', multiple: true },
      fresh: { type: 'boolean', default: false },
    },
  })
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const tests = values.tests === undefined ? await linesOfTests(values.fresh) : testsBelow(values.tests)
  const possible = sourcesUnder(positionals.length > 0 ? positionals : ['lib/']).flatMap(breaksIn)
  const copy = fs.mkdtempSync(join(tmpdir(), 'breaks-'))
  fs.cpSync(root, copy, { recursive: true, filter: (path) => !/\/(node_modules|\.git|dist)$/.test(path) })
  fs.symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  let survivors = 0
  for (const one of chooseFrom(possible, Number(values.count), seed)) {
    const outcome = await noticed(copy, one, tests)
    if (outcome.startsWith('SURVIVED')) survivors++
    console.log(`${one.file}:${one.line} ${one.what}\n    ${outcome}`)
  }
  fs.rmSync(copy, { recursive: true })
  console.log(`${survivors} of ${values.count} breaks survived (seed ${seed}, ${possible.length} places)`)
}

void main()
