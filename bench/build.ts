import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

const own = join(__dirname, '..')

/** Compiles the targets, once: a server that compiles itself while it starts would be measured for that. */
export function buildTargets(): string {
  return build(__dirname, own, join(__dirname, 'built'))
}

/**
 * Compiles the targets for the suite of another checkout, against the packages of this one: its own targets, or those of this
 * checkout where its own cannot run in one process.
 */
export function buildTargetsBeside(checkout: string): string {
  const theirs = join(checkout, 'bench')
  const sources = existsSync(join(theirs, 'in-process.ts')) ? theirs : __dirname
  return build(sources, checkout, join(__dirname, 'built/beside'))
}

/**
 * Compiles these targets with the sources of the suite, beside the packages of its folder: nothing must be built or installed
 * here. The returned folder is the caller's to remove.
 */
export function buildTargetsFromSources(names: readonly string[]): string {
  const caches = join(own, 'node_modules/.cache')
  mkdirSync(caches, { recursive: true })
  const built = mkdtempSync(join(caches, 'targets-'))
  buildSync({
    entryPoints: names.map((name) => join(__dirname, 'targets', `${name}.ts`)),
    outdir: built,
    bundle: true,
    packages: 'external',
    tsconfig: join(own, 'tsconfig.json'),
    platform: 'node',
    format: 'cjs',
    target: 'node20',
  })
  return built
}

function build(sources: string, checkout: string, built: string): string {
  const entryPoints = ['.', 'targets', 'stories', 'storage'].flatMap((folder) =>
    readdirSync(join(sources, folder))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => join(sources, folder, name)),
  )
  buildSync({
    entryPoints,
    outdir: built,
    outbase: sources,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
  })
  installSuite(checkout, built)
  return join(built, 'targets')
}

// As npm installs it: where it is linked to, it would find packages of its own, and load ioredis a second time.
function installSuite(checkout: string, built: string): void {
  if (!existsSync(join(checkout, 'dist')))
    throw new Error(`${checkout} is not built: run "npm run build" there.`)
  const place = join(built, 'node_modules/express-authorization-server')
  rmSync(place, { recursive: true, force: true })
  for (const part of ['package.json', 'dist'])
    cpSync(join(checkout, part), join(place, part), { recursive: true })
}
