import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = join(__dirname, '../../..')
const installed = join(root, 'node_modules')
const self = 'express-authorization-server'

/** The package as npm packs it; made once for files that have not changed. */
export class PackedPackage {
  /** Holds whatever a test puts beside the package. */
  readonly folder = mkdtempSync(join(tmpdir(), 'packed-package-'))
  readonly tarball: string
  private readonly unpacked: string

  constructor() {
    const kept = join(installed, '.cache/packed', digestOf(parts))
    mkdirSync(dirname(kept), { recursive: true })
    if (!existsSync(kept) && !isMadeByAnother(kept)) {
      const draft = mkdtempSync(`${kept}-`)
      pack(draft)
      renameSync(draft, kept)
    }
    this.tarball = join(kept, 'package.tgz')
    this.unpacked = join(kept, 'package')
  }

  /** The files in the tarball. */
  files(): readonly string[] {
    const list = execFileSync('tar', ['-tzf', this.tarball], { encoding: 'utf8' })
    return list
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//, ''))
  }

  read(path: string): string {
    return readFileSync(join(this.unpacked, path), 'utf8')
  }

  /** An application that has installed the package and these others, and nothing else that a resolver could find. */
  application(name: string, packages: readonly string[]): string {
    const application = this.emptyFolder(name)
    this.install(application, [self, ...packages])
    return application
  }

  emptyFolder(name: string): string {
    const folder = join(this.folder, name)
    mkdirSync(folder)
    return folder
  }

  /** Does what `npm install` does: this package comes from the tarball, others in the versions of the lockfile. */
  install(application: string, packages: readonly string[]): void {
    const modules = join(application, 'node_modules')
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const name of packages.flatMap((each) =>
      each === self ? [self, ...Object.keys(dependencies)] : each,
    )) {
      const place = join(modules, name)
      mkdirSync(dirname(place), { recursive: true })
      if (name !== self) symlinkSync(join(installed, name), place)
      else cpSync(this.unpacked, place, { recursive: true })
      const command = join(installed, '.bin', name)
      mkdirSync(join(modules, '.bin'), { recursive: true })
      if (existsSync(command)) symlinkSync(realpathSync(command), join(modules, '.bin', name))
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true })
  }
}

/** Waits for another process that makes it. One that was killed is waited for a minute. */
function isMadeByAnother(kept: string): boolean {
  try {
    mkdirSync(`${kept}.begun`)
    return false
  } catch {
    const clock = new Int32Array(new SharedArrayBuffer(4))
    for (let waits = 0; waits < 600 && !existsSync(kept); waits++) Atomics.wait(clock, 0, 0, 100)
    return existsSync(kept)
  }
}

const parts = ['package.json', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'docs', 'lib']

/** Changes with each file of the package, and of what builds it. */
function digestOf(names: readonly string[]): string {
  const hash = createHash('sha256')
  const add = (path: string): void => {
    const { mtimeMs, size } = statSync(path)
    if (statSync(path).isDirectory()) for (const name of readdirSync(path).toSorted()) add(join(path, name))
    else hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  for (const name of [...names, 'rolldown.config.ts', 'tsconfig.build.json', 'tsconfig.json'])
    add(join(root, name))
  return hash.digest('hex').slice(0, 16)
}

/** Makes the tarball in a folder, and unpacks it there. The build in the work tree stays as it is. */
function pack(folder: string): void {
  for (const name of parts) cpSync(join(root, name), join(folder, 'source', name), { recursive: true })
  const source = join(folder, 'source')
  const dist = join(source, 'dist')
  run('rolldown/bin/cli.mjs', ['-c', 'rolldown.config.ts', '--dir', dist])
  run('typescript/bin/tsc', ['-p', 'tsconfig.build.json', '--outDir', dist])
  const words = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder]
  const packed = execFileSync('npm', words, { cwd: source, encoding: 'utf8' })
  const [, filename = ''] = /"filename": "([^"]+)"/.exec(packed) ?? []
  renameSync(join(folder, filename), join(folder, 'package.tgz'))
  execFileSync('tar', ['-xzf', join(folder, 'package.tgz'), '-C', folder])
  rmSync(source, { recursive: true })
}

function run(program: string, parameters: readonly string[]): void {
  execFileSync(process.execPath, [join(installed, program), ...parameters], { cwd: root, stdio: 'pipe' })
}
