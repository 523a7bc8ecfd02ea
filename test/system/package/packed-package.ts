import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = join(__dirname, '../../..')
const installed = join(root, 'node_modules')
const self = 'express-authorization-server'

/** The package as npm packs it. */
export class PackedPackage {
  /** Holds the tarball and whatever a test puts beside it. */
  readonly folder = mkdtempSync(join(tmpdir(), 'packed-package-'))
  readonly tarball: string
  private readonly unpacked: string

  constructor() {
    const source = join(this.folder, 'source')
    mkdirSync(source)
    // The files that npm looks at, with a build of their own: the build in the work tree stays as it is.
    for (const name of ['package.json', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'docs', 'lib'])
      cpSync(join(root, name), join(source, name), { recursive: true })
    const dist = join(source, 'dist')
    run('rolldown/bin/cli.mjs', ['-c', 'rolldown.config.ts', '--dir', dist])
    run('typescript/bin/tsc', ['-p', 'tsconfig.build.json', '--outDir', dist])
    const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--loglevel=error'], {
      cwd: source,
      encoding: 'utf8',
    })
    const [, filename = ''] = /"filename": "([^"]+)"/.exec(packed) ?? []
    this.tarball = join(source, filename)
    this.unpacked = join(this.folder, 'unpacked')
    mkdirSync(this.unpacked)
    execFileSync('tar', ['-xzf', this.tarball, '--strip-components=1', '-C', this.unpacked])
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
      else {
        mkdirSync(place)
        execFileSync('tar', ['-xzf', this.tarball, '--strip-components=1', '-C', place])
      }
      const command = join(installed, '.bin', name)
      mkdirSync(join(modules, '.bin'), { recursive: true })
      if (existsSync(command)) symlinkSync(realpathSync(command), join(modules, '.bin', name))
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true })
  }
}

function run(program: string, parameters: readonly string[]): void {
  execFileSync(process.execPath, [join(installed, program), ...parameters], { cwd: root, stdio: 'pipe' })
}
