import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

const built = join(__dirname, 'built')

/** Compiles the targets, once: a server that compiles itself while it starts would be measured for that. */
export function buildTargets(): string {
  const entryPoints = ['.', 'targets', 'stories', 'storage'].flatMap((folder) =>
    readdirSync(join(__dirname, folder))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => join(__dirname, folder, name)),
  )
  buildSync({
    entryPoints,
    outdir: built,
    outbase: __dirname,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
  })
  installSuite()
  return join(built, 'targets')
}

// As npm installs it: where it is linked to, it would find packages of its own, and load ioredis a second time.
function installSuite(): void {
  const place = join(built, 'node_modules/express-authorization-server')
  rmSync(place, { recursive: true, force: true })
  for (const part of ['package.json', 'dist'])
    cpSync(join(__dirname, '..', part), join(place, part), { recursive: true })
}
