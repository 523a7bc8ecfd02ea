import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'

const root = join(__dirname, '../..')
const packages = join(root, 'node_modules')
const folder = join(packages, '.cache/bundled')
const esbuild = join(packages, '.bin/esbuild')
const options = ['--bundle', '--platform=node', '--format=cjs', '--target=node20']

/** Where the packages are that a module imports: in the bundle, which starts faster, or in `node_modules`, as for hosts. */
type Packages = 'bundled' | 'installed'

/** What a bundle was made of: the files, each with the time of its last change. */
interface Origin {
  readonly file: string
  readonly inputs: Readonly<Record<string, number>>
}

/**
 * A module with all that it imports of this project, compiled into one file, whose path it returns: for processes that
 * tests start, each of which would compile every file of the suite for itself. With its packages in it, Node keeps the
 * compiled code of the file, too.
 */
export function bundled(module: string, place: Packages = 'installed'): string {
  const name = `${basename(module, extname(module))}-${digestOf(`${module} ${place}`)}`
  const known = originIn(join(folder, `${name}.json`))
  if (known !== undefined && isCurrent(known)) return known.file
  mkdirSync(folder, { recursive: true })
  const [draft, metafile] = [
    join(folder, `${name}.${process.pid}`),
    join(folder, `${name}.${process.pid}.meta`),
  ]
  const outside = place === 'installed' ? '--packages=external' : '--external:bcrypt'
  const output = [`--outfile=${draft}`, `--metafile=${metafile}`, '--log-level=error']
  execFileSync(esbuild, [module, ...options, outside, ...output], { cwd: root })
  const code = readFileSync(draft, 'utf8')
  const { inputs }: { readonly inputs: object } = JSON.parse(readFileSync(metafile, 'utf8'))
  const file = join(folder, `${name}-${digestOf(code)}.js`)
  if (place === 'bundled') write(file.replace(/js$/, 'body'), code)
  write(file, place === 'bundled' ? loader : code)
  for (const done of [draft, metafile]) rmSync(done)
  const times = Object.keys(inputs).map((input) => [input, changeOf(input)])
  write(join(folder, `${name}.json`), JSON.stringify({ file, inputs: Object.fromEntries(times) }))
  return file
}

const digestOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex').slice(0, 16)

const changeOf = (input: string) => statSync(join(root, input), { throwIfNoEntry: false })?.mtimeMs

function originIn(path: string): Origin | undefined {
  return statSync(path, { throwIfNoEntry: false }) && JSON.parse(readFileSync(path, 'utf8'))
}

const isCurrent = ({ inputs }: Origin) =>
  Object.entries(inputs).every(([input, change]) => changeOf(input) === change)

/** Others may be reading it, or writing the same. */
function write(file: string, content: string | Buffer): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, content)
  renameSync(draft, file)
}

// Runs the body as Node runs a module, and keeps what V8 compiled at the first time for the next ones. Such a body cannot
// import a file that it names at run time, as the command of the package does.
const loader = `'use strict'
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { Script } = require('node:vm')
const body = __filename.replace(/js$/, 'body')
const cache = [body, process.version, ...process.execArgv.filter((word) => /^--[\\w-]+$/.test(word))].join('.')
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined
const script = new Script(
  '(function (exports, require, module, __filename, __dirname) {' + readFileSync(body, 'utf8') + '\\n})',
  { filename: body, cachedData },
)
script.runInThisContext().call(exports, exports, require, module, __filename, __dirname)
if (cachedData === undefined)
  setImmediate(() => {
    const draft = cache + '.' + process.pid
    writeFileSync(draft, script.createCachedData())
    renameSync(draft, cache)
  })
`
