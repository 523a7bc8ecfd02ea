import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

/** Compiles the targets, once: a server that compiles itself while it starts would be measured for that. */
export function buildTargets(): string {
  const outdir = join(__dirname, 'built')
  const entryPoints = ['.', 'targets', 'stories', 'storage'].flatMap((folder) =>
    readdirSync(join(__dirname, folder))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => join(__dirname, folder, name)),
  )
  buildSync({ entryPoints, outdir, outbase: __dirname, platform: 'node', format: 'cjs', target: 'node20' })
  return join(outdir, 'targets')
}
