import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** What `npm install` of a package brings: megabytes on disk and packages, what the host has anyway left out. */
export interface InstalledSize {
  readonly megabytes: number
  readonly packages: number
}

const packages = [
  'express-authorization-server',
  'oidc-provider',
  '@node-oauth/express-oauth-server',
  'oauth2orize',
  '@jmondi/oauth2-server',
  '@modelcontextprotocol/sdk',
  '@better-auth/oauth-provider',
  'express-oauth2-jwt-bearer',
]

export function installedSizes(): ReadonlyMap<string, InstalledSize> {
  return new Map(packages.map((name) => [name, sizeOf(name)]))
}

function sizeOf(root: string): InstalledSize {
  const folders = new Map<string, number>()
  const visit = (name: string, from: string): void => {
    const folder = folderOf(name, from)
    if (folder === undefined || folders.has(folder)) return
    folders.set(folder, bytesOf(folder))
    for (const dependency of dependenciesOf(folder)) visit(dependency, folder)
  }
  visit(root, __dirname)
  const bytes = [...folders.values()].reduce((sum, one) => sum + one, 0)
  return { megabytes: bytes / 1e6, packages: folders.size }
}

function folderOf(name: string, from: string): string | undefined {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name) ?? []
  const found = places
    .map((place) => join(place, name))
    .find((folder) => existsSync(join(folder, 'package.json')))
  return found && realpathSync(found)
}

function dependenciesOf(folder: string): readonly string[] {
  const manifest: { dependencies?: Record<string, string> } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  return Object.keys(manifest.dependencies ?? {})
}

// Of the suite, what is published; of the others, what lies there.
function bytesOf(folder: string): number {
  const manifest: { name?: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return manifest.name === 'express-authorization-server'
    ? bytesBelow(join(folder, 'dist'))
    : bytesBelow(folder)
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .reduce((sum, entry) => {
      const path = join(folder, entry.name)
      return sum + (entry.isDirectory() ? bytesBelow(path) : statSync(path).size)
    }, 0)
}
