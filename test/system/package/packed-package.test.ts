import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import type { Browser } from 'playwright-core'
import { follow, press } from '../../support/browser/follow'
import { launchChromium } from '../../support/chromium'
import { cursorUris, throughCursor } from './cursor'
import { runClient } from '../../support/mcp/run-client'
import { startServer, type StartedServer } from '../../support/start-server'
import { followGuide, type GuidedApplication } from './existing-application'
import { imported } from './kit-tests'
import { mcpHost } from './mcp-host'
import { tryPage, type TriedPage } from './mcp-page'
import { fenced } from './page-commands'
import { pluggingIn } from './plug-ins'
import { PackedPackage } from './packed-package'

const root = join(__dirname, '../../..')

let packed: PackedPackage
beforeAll(() => {
  packed = new PackedPackage()
})
afterAll(() => packed.remove())

/** Compiles the files of an application as a host would, and says what the compiler found. */
function complaints(compiler: string, application: string, skipLibCheck: boolean): string {
  const common = { strict: true, module: 'nodenext', noEmit: true, esModuleInterop: true, skipLibCheck }
  // Without the types of the DOM, which servers lack and whose check takes seconds.
  const options = { ...common, lib: ['es2023'] }
  const types = existsSync(join(application, 'node_modules/@types/node')) ? ['node', 'jest'] : undefined
  write(application, { 'tsconfig.json': JSON.stringify({ compilerOptions: { ...options, types } }) })
  const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
  return spawnSync(process.execPath, [tsc, '-p', application], { encoding: 'utf8' }).stdout
}

function write(application: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(application, name), text)
}

describe('the types of the packed package', () => {
  const use = `
const oauth = createAuthorizationServer({ issuer: 'http://localhost', scopes: {}, clients: [] })
const guard = createBearerGuard({ issuer: 'https://login.example', jwt: { audience: 'api', jwks: { keys: [] } } })
export const app = express().get('/', oauth.bearerGuard(), guard(), (req, res) => void res.json(req.oauth?.subject))
export const token: Promise<{ readonly access_token: string }> = mintToken(oauth, { clientId: 'album' })`
  let application: string
  beforeAll(() => {
    application = packed.application('types', ['express', '@types/express'])
    write(application, {
      'imports.mts': `import express from 'express'
import { createAuthorizationServer } from 'express-authorization-server'
import { createBearerGuard } from 'express-authorization-server/guards'
import { mintToken } from 'express-authorization-server/testing'${use}`,
      'requires.cts': `import express = require('express')
import suite = require('express-authorization-server')
import guards = require('express-authorization-server/guards')
import testing = require('express-authorization-server/testing')
const { createAuthorizationServer } = suite
const { createBearerGuard } = guards
const { mintToken } = testing${use}`,
    })
  })

  // The newer one checks each declaration; the older one, which takes ten times as long for that, reads what is used.
  test.each([
    ['5.9', 'typescript-5.9', true],
    ['7', 'typescript', false],
  ])(
    'are complete to TypeScript %s without any optional peer, from CommonJS and ES modules',
    (version, compiler, skipsDeclarations) => {
      const { version: installed }: { readonly version: string } = require(`${compiler}/package.json`)
      expect(`${installed}.`).toContain(`${version}.`)
      expect(complaints(compiler, application, skipsDeclarations)).toBe('')
    },
  )

  test('name no package but the dependencies and Express', () => {
    const own = join(application, 'node_modules/express-authorization-server/dist')
    const files = readdirSync(own, { recursive: true, encoding: 'utf8' })
    const declarations = files.filter((file) => file.endsWith('.d.ts'))
    const text = declarations.map((file) => readFileSync(join(own, file), 'utf8')).join('\n')
    const named = Array.from(
      text.matchAll(/(?:from |import\(|require\()["']([^."'][^"']*)["']/g),
      ([, name]) => name,
    )
    const packages = named.filter((name) => name?.startsWith('node:') === false)
    expect(new Set(packages)).toEqual(new Set(['express', 'express-rate-limit', 'jose']))
  })
})

/** A snippet with imports of all that it uses and does not import itself. */
function whole(snippet: string): string {
  const own = [...snippet.matchAll(/^import \{([^}]*)\}/gm)].join()
  const others = (names: object) =>
    Object.keys(names)
      .filter((name) => !new RegExp(`\\b${name}\\b`).test(own))
      .join(', ')
  const paths = readdirSync(join(root, 'lib/paths')).map((file) => `/${basename(file, '.ts')}`)
  const imports = ['', ...paths].map((path) => {
    const names: object = require(join(root, 'lib', path === '' ? 'index' : `paths${path}`))
    return `import { ${others(names)} } from 'express-authorization-server${path}'`
  })
  return `${imports.join('\n')}
${snippet}
export {}
`
}

// The pages whose snippets are parts of an application.
const isCompiled = (page: string) =>
  /^(?:README|docs\/testing|docs\/mcp|docs\/.+-guard|docs\/guides\/.+)\.md$/.test(page)
const nameOf = (page: string, index: number) =>
  `snippet-${page.replace(/\.md$/, '').replaceAll('/', '-')}-${index + 1}.mts`

describe('the TypeScript of the documents, as an application', () => {
  // What the snippets leave to the reader: the application around them.
  const context = `
import type { Express, Request, RequestHandler } from 'express'
import type { Server } from 'node:http'
import type { PassportStatic } from 'passport'
import type supertest from 'supertest'
import type { AuthorizationServer, AuthorizationServerOptions, ClientRegistration, Endpoint } from 'express-authorization-server'
import type { ExchangePolicy } from 'express-authorization-server/grants'
import type { RedisStore } from 'express-authorization-server/redis'
declare global {
  const app: Express
  const server: Server
  const passport: PassportStatic
  const oauth: AuthorizationServer
  const options: AuthorizationServerOptions
  const client: ClientRegistration
  const store: RedisStore
  const policy: ExchangePolicy
  const whoami: Endpoint
  const showPhotos: RequestHandler
  const wayBack: (returnTo: unknown) => string
  const mcpServer: RequestHandler
  const currentUser: (request: Request) => { subject: string; name: string } | undefined
  const request: typeof supertest
  const callback: string
  const issuer: string
  const audience: string
  const jwks_uri: string
  const tokenEndpoint: string
  const url: string
  const scope: string
  const redirect_uris: readonly string[]
  const publicJwk: { readonly kty: string }
}`

  let application: string
  beforeAll(() => {
    const types = ['express', 'node', 'jest', 'supertest', 'passport', 'express-session', 'pg']
    const sdk = ['client', 'node', 'server'].map((name) => `@modelcontextprotocol/${name}`)
    const others = ['express-session', 'helmet', 'ioredis', 'openid-client', 'pg', 'serverless-http']
    const packages = ['express', 'supertest', ...others, ...sdk, ...types.map((name) => `@types/${name}`)]
    application = packed.application('documents', packages)
    const snippets = packed
      .files()
      .filter(isCompiled)
      .flatMap((page) =>
        fenced(packed.read(page), 'ts').map((text, index) => [nameOf(page, index), whole(text)]),
      )
    const examples = ['whoami', 'voucher-grant', 'read-only', 'mcp', 'mcp-server-process'].map((name) => [
      `${name}.ts`,
      packed.read(`docs/examples/${name}.ts`),
    ])
    write(application, {
      'context.d.ts': context,
      'kit.mjs': imported("import { test } from 'node:test'"),
      'plug-ins.ts': pluggingIn,
      'host.ts': mcpHost,
      ...Object.fromEntries([...snippets, ...examples]),
    })
  })

  test('compiles with TypeScript 7 and strict', () => {
    expect(readdirSync(application).filter((file) => file.startsWith('snippet-')).length).toBeGreaterThan(30)
    expect(complaints('typescript', application, true)).toBe('')
  })

  test.each([
    ['the testing kit leads to a guarded route, as ES modules', ['kit.mjs'], 'pass 2'],
    ['an endpoint, a grant type and an extension work by public options alone', ['plug-ins.ts'], 'pass 3'],
    ['the example of MCP leads a client from 401 to the result of a tool', ['host.ts'], 'served'],
  ])('%s', (_what, words, output) => {
    const { NODE_TEST_CONTEXT: _context, ...env } = process.env
    const options = { cwd: application, env, encoding: 'utf8' } as const
    const register = require.resolve('esbuild-register')
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-r', register, ...words], options)
    expect({ status, output: stdout + stderr }).toEqual({
      status: 0,
      output: expect.stringContaining(output),
    })
  })
})

describe('the page of MCP, tried in an empty folder with its line for Cursor,', () => {
  let page: TriedPage
  beforeAll(async () => {
    page = await tryPage(packed, 'try', (text) => text.replace('// redirectUris', 'redirectUris'))
  })
  afterAll(() => page.stop())

  test('leads mcp-remote by its printed command to the result of every tool', async () => {
    const { issuer, mcpRemote: command } = page
    const { results, error } = await runClient({
      generation: 'remote',
      command,
      server: '',
      issuer,
      client: { kind: 'dynamic', redirectUri: 'http://127.0.0.1:3333/callback' },
      tools: ['list_notes', 'write_note', 'list_notes'],
      arguments: { write_note: { text: 'from mcp-remote' } },
    })
    expect(error).toBeUndefined()
    expect(results.slice(1)).toEqual(['Written.', expect.stringContaining('from mcp-remote')])
  })

  test.each(['device', 'scheme'] as const)(
    'leads a client that registers as Cursor does to the tools, by its URI of kind %s',
    async (kind) => {
      expect(await throughCursor(page.issuer, cursorUris[kind])).toEqual(['list_notes', 'write_note'])
    },
  )
})

describe('the page for an application, followed in an empty folder', () => {
  let client: StartedServer
  let application: GuidedApplication
  let browser: Browser
  beforeAll(async () => {
    client = await startServer((_request, response) => void response.end('At the app'))
    application = await followGuide(packed, `http://127.0.0.1:${client.port}/callback`)
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser.close()
    await application.stop()
    await client.stop()
  })

  test('asks on its own pages, admits the token of the app, and refuses it after the owner has removed the app', async () => {
    const { origin, request, redemption } = application
    const page = await browser.newPage()
    await page.goto(request)
    await page.getByLabel('Name').fill('ada')
    await page.getByLabel('Password').fill('wrong')
    await press(page, 'Sign in')
    await page.getByLabel('Name').fill('ada')
    await page.getByLabel('Password').fill('lovelace')
    await press(page, 'Sign in')
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(
      'Album wants to access your account',
    )
    expect(await page.getByText('Ada Lovelace').count()).toBe(1)
    await page.getByLabel('Delete your photos').check()
    await press(page, 'Allow')
    await page.getByText('At the app').waitFor()

    const code = new URL(page.url()).searchParams.get('code') ?? ''
    const body = new URLSearchParams({ ...redemption, code })
    const tokens: unknown = await (await fetch(`${origin}/token`, { method: 'POST', body })).json()
    expect(tokens).toMatchObject({ scope: 'photos:read photos:delete' })
    const headers = { Authorization: `Bearer ${Object(tokens).access_token}` }
    const photos = () => fetch(`${origin}/photos`, { headers })
    expect(await (await photos()).json()).toEqual({ photosOf: 'u-1815' })

    await page.goto(origin)
    await follow(page, () => page.getByRole('link', { name: 'Connected apps' }).click())
    expect(await page.locator('section').innerText()).toMatch(
      /^Album\n[^]*Delete your photos[^]*Allowed on 20/,
    )
    await follow(page, () => page.getByRole('link', { name: 'Remove Album' }).click())
    expect((await photos()).status).toBe(200)
    await press(page, 'Remove')
    await page.getByText('No app can access your account.').waitFor()
    expect(await page.getByRole('status').innerText()).toContain('Album is removed.')
    expect((await photos()).status).toBe(401)
    await page.goto(origin)
    await press(page, 'Sign out')
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
    expect(application.output()).toBe('')
  })

  test('shows an error on its own page', async () => {
    const page = await browser.newPage()
    await page.goto(`${application.origin}/authorize?client_id=unknown`)
    expect(await page.getByRole('heading').innerText()).toBe('This request cannot go on')
    expect(await page.getByText('The app is not known here, or is blocked.').count()).toBe(1)
  })
})

describe('the tarball', () => {
  test('has every document that its documents lead to', () => {
    const files = packed.files()
    const documents = files.filter((file) => file.endsWith('.md'))
    expect(documents).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/clients.md']))
    const links = documents.flatMap((file) => {
      const prose = packed.read(file).replaceAll(/^```.*?^```$/gms, '')
      const paths = prose.matchAll(/\]\((?!https?:|#)([^)\s#]+)[^)]*\)/g)
      return Array.from(paths, ([, path = '']) => posix.join(posix.dirname(file), path))
    })
    const dead = links.filter((path) => !files.includes(path))
    expect([...new Set(dead)]).toEqual([])
  })

  test('has the build and the documents, and nothing else', () => {
    const tops = packed.files().map((file) => file.split('/', 1).join())
    expect([...new Set(tops)].toSorted()).toEqual(
      ['LICENSE', 'README.md', 'SECURITY.md', 'dist', 'docs', 'package.json'].toSorted(),
    )
    const folders = packed.files().flatMap((file) => /^docs\/(.*)\//.exec(file)?.[1] ?? [])
    expect([...new Set(folders)].toSorted()).toEqual(['examples', 'examples/views', 'guides', 'images'])
  })

  test('names ranges of its dependencies: applications get security patches without a release', () => {
    const { dependencies } = JSON.parse(packed.read('package.json'))
    expect(Object.values(dependencies)).toEqual(
      Object.values(dependencies).map(() => expect.stringMatching(/^\^\d/)),
    )
  })
})
