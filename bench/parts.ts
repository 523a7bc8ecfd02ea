// Which part of the suite a request spends its time in: `npm run parts -- guard "code flow" --by room|file|function`, on the
// binary of Node that BENCH_NODES names. With `--target bare`, the same of another
// target of programs-in-process.ts. A sample of V8's profiler counts for the innermost function of the suite on its stack, so that what
// this function asks of Node counts for it, too. What has no such function counts for Express, or for Node.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { otherCore, pin, runTargetsOn, startTarget } from './child'
import { programsInProcess, rows, type Row } from './programs-in-process'

interface Frame {
  readonly id: number
  readonly children?: readonly number[]
  readonly callFrame: {
    readonly functionName: string
    readonly url: string
    readonly lineNumber: number
    readonly columnNumber: number
  }
}

interface Profile {
  readonly nodes: readonly Frame[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

// Milliseconds of processor time.
const warmUp = 3000
const span = 6000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { target: { type: 'string', default: 'ours' }, by: { type: 'string', default: 'room' } },
})
const suite = join(__dirname, 'built/node_modules/express-authorization-server/dist')

async function main(): Promise<void> {
  pin(process, otherCore)
  const [node] = (process.env['BENCH_NODES'] ?? process.execPath).split(',')
  if (node !== undefined) runTargetsOn(node)
  mapSources()
  for (const row of Object.keys(rows).filter(isRow))
    if (positionals.length === 0 || positionals.includes(row)) print(row, await spentIn(row))
}

// The bundle that `npm run build` makes, with a map of its sources.
function mapSources(): void {
  execFileSync('npx', ['rolldown', '-c', 'rolldown.config.ts', '--sourcemap', '-d', suite], {
    cwd: join(__dirname, '..'),
    stdio: 'ignore',
  })
}

/** Microseconds of processor time of one operation, by part. */
async function spentIn(row: Row): Promise<ReadonlyMap<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'parts-'))
  const { program, environment: own } = programsInProcess[values.target] ?? { program: values.target }
  const environment = { ...own, BENCH_IN_PROCESS: values.target }
  const profiling = ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', folder]
  const target = await startTarget({ program, environment }, '', ['--expose-gc', ...profiling])
  await target.roundInProcess({ row, milliseconds: warmUp })
  const { cpu } = await target.roundInProcess({ row, milliseconds: span })
  await target.stop()
  const [file = ''] = readdirSync(folder)
  return shares(JSON.parse(readFileSync(join(folder, file), 'utf8')), cpu)
}

function shares({ nodes, samples, timeDeltas }: Profile, cpu: number): ReadonlyMap<string, number> {
  const parts = partsOf(nodes)
  const all = timeDeltas.reduce((sum, delta) => sum + delta, 0)
  const spent = new Map<string, number>()
  let [at, counted] = [0, 0]
  samples.forEach((id, index) => {
    const delta = timeDeltas[index] ?? 0
    at += delta
    const part = parts.get(id)
    // The first half of the time is the start and the warming up.
    if (part === undefined || at < all / 2) return
    counted += delta
    spent.set(part, (spent.get(part) ?? 0) + delta)
  })
  return new Map([...spent].map(([part, time]) => [part, (time / counted) * cpu]))
}

/** The part of each node of the tree of calls; undefined for time that nothing uses. */
function partsOf(nodes: readonly Frame[]): ReadonlyMap<number, string | undefined> {
  const frames = new Map(nodes.map((node) => [node.id, node]))
  const parts = new Map<number, string | undefined>()
  const visit = (id: number, above: string | undefined): void => {
    const frame = frames.get(id)
    if (frame === undefined) return
    const part = partOf(frame.callFrame, above)
    parts.set(id, part)
    for (const child of frame.children ?? []) visit(child, part)
  }
  const [root] = nodes
  if (root !== undefined) visit(root.id, undefined)
  return parts
}

const generator = /\/(?:in-process|connection|pipe|stories\/|flows|cast)/

function partOf(frame: Frame['callFrame'], above: string | undefined): string | undefined {
  const { functionName, url } = frame
  if (functionName === '(garbage collector)') return 'collection of garbage'
  if (functionName === '(idle)') return undefined
  const source = sourceOf(frame)
  if (source !== undefined) return source
  if (/node_modules\/(?:express|router|finalhandler|send|path-to-regexp)\//.test(url)) return 'Express'
  const [, dependency] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? []
  if (dependency !== undefined && !url.includes(suite)) return dependency
  if (url.includes('/built/targets/') || url.includes('/built/storage/')) return 'host of the benchmark'
  if (generator.test(url)) return 'generator'
  return above ?? (url.startsWith('node:') ? "Node's HTTP and streams" : 'V8 and the system')
}

const maps = new Map<string, SourceMap>()

function sourceOf({ functionName, url, lineNumber, columnNumber }: Frame['callFrame']): string | undefined {
  const file = url.replace('file://', '')
  if (!file.startsWith(suite)) return undefined
  const map = maps.get(file) ?? new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  maps.set(file, map)
  const entry = map.findEntry(lineNumber, columnNumber)
  const source = 'originalSource' in entry ? entry.originalSource : ''
  const [, path = 'suite'] = /\/(lib\/.*)\.ts$/.exec(source) ?? []
  if (values.by === 'function') return `${path} ${functionName}`
  return values.by === 'file' ? path : path.split('/').slice(0, 2).join('/')
}

function print(row: Row, spent: ReadonlyMap<string, number>): void {
  const all = [...spent.values()].reduce((sum, time) => sum + time, 0)
  const sorted = [...spent].toSorted(([, a], [, b]) => b - a)
  console.log(`${row}: ${all.toFixed(1)} µs of processor time`)
  console.table(
    sorted.map(([part, time]) => ({
      part,
      µs: Number(time.toFixed(2)),
      '%': Math.round((time / all) * 100),
    })),
  )
}

function isRow(name: string): name is Row {
  return Object.hasOwn(rows, name)
}

void main()
