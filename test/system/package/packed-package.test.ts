import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { isRecord } from '../../../lib/primitives/options-reader'
import * as suite from '../../../lib/index'
import * as kit from '../../../lib/testing/index'
import type { Browser, Page } from 'playwright-core'
import { follow, press } from '../../support/browser/follow'
import { launchChromium } from '../../support/chromium'
import { extent } from '../../support/extent'
import { cursorUris, throughCursor } from '../../support/mcp/cursor'
import { runClient } from '../../support/mcp/run-client'
import { startServer, type StartedServer } from '../../support/rooms/start-server'
import { followGuide, type GuidedApplication } from './existing-application'
import { imported, required } from './kit-tests'
import { mcpHost } from './mcp-host'
import { tryPage, type TriedPage } from './mcp-page'
import { pluggingIn } from './plug-ins'
import { PackedPackage } from './packed-package'

const root = join(__dirname, '../../..')
const compilers: [version: string, compiler: string][] = [
  ['5.9', 'typescript-5.9'],
  ['7', 'typescript'],
]
// Of the two, the newer one is enough for documents and examples; both read the types of the package in every run.
const ofProse = extent(compilers.slice(-1), compilers)
// The newer one checks each declaration; the older one, which takes ten times as long for that, reads what is used.
const checking = new Set(ofProse.map(([, compiler]) => compiler))

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
  writeFileSync(
    join(application, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...options, types } }),
  )
  const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
  return spawnSync(process.execPath, [tsc, '-p', application], { encoding: 'utf8' }).stdout
}

function write(application: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(application, name)), { recursive: true })
    writeFileSync(join(application, name), text)
  }
}

describe('the types of the packed package', () => {
  const use = `
const oauth = createAuthorizationServer({ issuer: 'http://localhost', scopes: {}, clients: [] })
const guard = createJwtBearerGuard({ issuer: 'https://login.example', audience: 'api', keys: { keys: [] } })
export const app = express().get('/', oauth.bearerGuard(), guard(), (req, res) => void res.json(req.oauth?.subject))
export const token: Promise<{ readonly access_token: string }> = mintToken(oauth, { clientId: 'album' })`
  let application: string
  beforeAll(() => {
    application = packed.application('types', ['express', '@types/express'])
    write(application, {
      'imports.mts': `import express from 'express'
import { createAuthorizationServer, createJwtBearerGuard } from 'express-authorization-server'
import { mintToken } from 'express-authorization-server/testing'${use}`,
      'requires.cts': `import express = require('express')
import suite = require('express-authorization-server')
import testing = require('express-authorization-server/testing')
const { createAuthorizationServer, createJwtBearerGuard } = suite
const { mintToken } = testing${use}`,
    })
  })

  test.each(compilers)(
    'are complete to TypeScript %s without any optional peer, from CommonJS and ES modules',
    (_version, compiler) => {
      expect(complaints(compiler, application, !checking.has(compiler))).toBe('')
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
    expect(new Set(packages)).toEqual(new Set(['express', 'express-rate-limit']))
  })
})

/** A snippet with imports of all that it uses and does not import itself. */
function whole(snippet: string): string {
  const own = [...snippet.matchAll(/^import \{([^}]*)\}/gm)].join()
  const others = (names: object) =>
    Object.keys(names)
      .filter((name) => !new RegExp(`\\b${name}\\b`).test(own))
      .join(', ')
  return `import { ${others(suite)} } from 'express-authorization-server'
import { ${others(kit)} } from 'express-authorization-server/testing'
${snippet}
export {}
`
}

// The pages whose snippets are parts of an application.
const isCompiled = (page: string) =>
  /^(?:README|docs\/testing|docs\/mcp|docs\/.+-guard|docs\/guides\/.+)\.md$/.test(page)
const nameOf = (page: string, index: number) =>
  `snippet-${page.replace(/\.md$/, '').replaceAll('/', '-')}-${index + 1}.mts`

describe('the TypeScript of the README, the guides and the page of testing', () => {
  // What the snippets leave to the reader: the application around them.
  const context = `
import type { Express, Request, RequestHandler } from 'express'
import type { Server } from 'node:http'
import type { PassportStatic } from 'passport'
import type supertest from 'supertest'
import type {
  AuthorizationServer, AuthorizationServerOptions, ClientRegistration, Endpoint, ExchangePolicy, RedisStore,
} from 'express-authorization-server'
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
  const mcpServer: RequestHandler
  const currentUser: (request: Request) => { subject: string; name: string } | undefined
  const request: typeof supertest
  const callback: string
  const issuer: string
  const audience: string
  const jwksUri: string
  const tokenEndpoint: string
  const url: string
  const scope: string
  const redirect_uris: readonly string[]
  const publicJwk: { readonly kty: string }
}`

  let application: string
  beforeAll(() => {
    const types = ['express', 'node', 'jest', 'supertest', 'passport', 'express-session']
    const sdk = ['node', 'server'].map((name) => `@modelcontextprotocol/${name}`)
    const others = [
      'connect-redis',
      'express-session',
      'helmet',
      'ioredis',
      'openid-client',
      'serverless-http',
    ]
    const packages = ['express', 'supertest', ...others, ...sdk, ...types.map((name) => `@types/${name}`)]
    application = packed.application('readme', packages)
    const files = packed
      .files()
      .filter(isCompiled)
      .flatMap((page) =>
        Array.from(packed.read(page).matchAll(/^```ts\n(.*?)^```$/gms), ([, text = ''], index) => [
          nameOf(page, index),
          whole(text),
        ]),
      )
    write(application, { 'context.d.ts': context, ...Object.fromEntries(files) })
  })

  test.each(ofProse)('compiles with TypeScript %s and strict', (_version, compiler) => {
    expect(readdirSync(application).filter((file) => file.startsWith('snippet-')).length).toBeGreaterThan(30)
    expect(complaints(compiler, application, true)).toBe('')
  })

  // A declaration in one snippet holds for all that are compiled with it. A reader copies one of them.
  test('declares the members of a user or a session in each snippet that reads them', () => {
    const types = ['express', 'node', 'jest', 'supertest', 'passport', 'express-session']
    const packages = ['express', 'express-session', 'helmet', 'openid-client', 'supertest']
    const alone = packed.application('alone', [...packages, ...types.map((name) => `@types/${name}`)])
    const read = (file: string) => readFileSync(join(application, file), 'utf8')
    const readers = readdirSync(application).filter(
      (file) => file.startsWith('snippet-') && /\breq\.(?:user|session)\b/.test(read(file)),
    )
    expect(readers.length).toBeGreaterThanOrEqual(3)
    write(alone, { 'context.d.ts': read('context.d.ts') })
    for (const file of extent(readers.slice(0, 1), readers)) {
      write(alone, { 'snippet.mts': read(file) })
      expect(complaints('typescript', alone, true)).toBe('')
    }
  })

  test('is compiled from every guide', () => {
    const pages = readdirSync(join(root, 'docs/guides')).map((file) => `docs/guides/${file}`)
    const withCode = pages.filter((page) => readFileSync(join(root, page), 'utf8').includes('```ts'))
    expect(withCode.length).toBeGreaterThan(5)
    expect(readdirSync(application)).toEqual(
      expect.arrayContaining([...withCode, 'README.md', 'docs/testing.md'].map((page) => nameOf(page, 0))),
    )
  })
})

describe('the testing kit of the packed package', () => {
  let application: string
  beforeAll(() => {
    application = packed.application('tests', ['express', 'supertest'])
  })

  const jest = [join(root, 'node_modules/jest/bin/jest.js'), '--config={"transform":{}}', '--rootDir=.']
  // The kit is CommonJS with Jest, too.
  const rows: [string, string, string, string[]][] = [
    ['Jest', 'kit.test.js', required(''), jest],
    ['node:test and ES modules', 'kit.mjs', imported("import { test } from 'node:test'"), ['--test']],
    ['node:test and CommonJS', 'kit.cjs', required("const { test } = require('node:test')"), ['--test']],
  ]
  test.each(extent(rows.slice(0, 2), rows))('works with %s', (_how, file, text, command) => {
    write(application, { [file]: text })
    const { NODE_TEST_CONTEXT: _context, ...env } = process.env
    const options = { cwd: application, env, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [...command, file], options)
    const output = expect.stringMatching(/pass 2|2 passed/)
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output })
  })
})

describe('plug-ins of a host, against the packed package', () => {
  let application: string
  beforeAll(() => {
    const types = ['express', 'node', 'jest', 'supertest'].map((name) => `@types/${name}`)
    application = packed.application('plug-ins', ['express', 'supertest', ...types])
    const examples = ['whoami.ts', 'voucher-grant.ts', 'read-only.ts'].map((file) => [
      file,
      packed.read(`docs/examples/${file}`),
    ])
    write(application, { 'plug-ins.ts': pluggingIn, ...Object.fromEntries(examples) })
  })

  test.each(ofProse)('compile with TypeScript %s and strict', (_version, compiler) => {
    expect(complaints(compiler, application, true)).toBe('')
  })

  test('an endpoint, a grant type and an extension work by public options alone', () => {
    const { NODE_TEST_CONTEXT: _context, ...env } = process.env
    const options = { cwd: application, env, encoding: 'utf8' } as const
    const register = require.resolve('esbuild-register')
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-r', register, 'plug-ins.ts'], options)
    expect({ status, output: stdout + stderr }).toEqual({
      status: 0,
      output: expect.stringContaining('pass 3'),
    })
  })
})

describe('the examples of MCP, against the packed package', () => {
  let application: string
  beforeAll(() => {
    const types = ['express', 'node', 'jest', 'supertest'].map((name) => `@types/${name}`)
    const sdk = ['client', 'node', 'server'].map((name) => `@modelcontextprotocol/${name}`)
    application = packed.application('mcp', ['express', 'supertest', 'ioredis', ...sdk, ...types])
    const examples = ['mcp.ts', 'mcp-server-process.ts'].map((file) => [
      file,
      packed.read(`docs/examples/${file}`),
    ])
    write(application, { 'host.ts': mcpHost, ...Object.fromEntries(examples) })
  })

  test.each(ofProse)('compile with TypeScript %s and strict', (_version, compiler) => {
    expect(complaints(compiler, application, true)).toBe('')
  })

  test('lead a client from 401 to the result of a tool', () => {
    const options = { cwd: application, encoding: 'utf8' } as const
    const register = require.resolve('esbuild-register')
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-r', register, 'host.ts'], options)
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: 'served\n' })
  })
})

describe('the page of MCP, tried in an empty folder', () => {
  let page: TriedPage
  beforeAll(async () => {
    page = await tryPage(packed, 'try')
  })
  afterAll(() => page.stop())

  const tools = ['list_notes', 'write_note', 'list_notes']
  const dynamic = { kind: 'dynamic', redirectUri: 'http://127.0.0.1:3333/callback' } as const
  const note = (text: string) => ({ write_note: { text } })

  test('leads mcp-remote by its printed command to the result of every tool', async () => {
    const { issuer, mcpRemote: command } = page
    const plan = { generation: 'remote', command, server: '', issuer, client: dynamic, tools } as const
    const { results, error } = await runClient({ ...plan, arguments: note('from mcp-remote') })
    expect(error).toBeUndefined()
    expect(results.slice(1)).toEqual(['Written.', expect.stringContaining('from mcp-remote')])
  })

  // A client of the first generation with a refresh token cannot ask for more.
  const generations = [
    [2, ['authorization_code', 'refresh_token']],
    [1, ['authorization_code']],
  ] as const
  test.each(generations.slice(0, extent(1, generations.length)))(
    'leads SDK %s to the result of every tool',
    async (generation, grantTypes) => {
      const { issuer } = page
      const plan = { generation, server: `${issuer}/mcp`, issuer, client: { ...dynamic, grantTypes }, tools }
      const { results, error } = await runClient({ ...plan, arguments: note(`from SDK ${generation}`) })
      expect(error).toBeUndefined()
      expect(results.slice(1)).toEqual(['Written.', expect.stringContaining(`from SDK ${generation}`)])
    },
  )

  test('leads a client that registers as Cursor does to the tools, by its URI on loopback', async () => {
    expect(await throughCursor(page.issuer, cursorUris.device)).toEqual(['list_notes', 'write_note'])
    expect(await throughCursor(page.issuer, cursorUris.scheme)).toBe(400)
  })

  test('leads Cursor to the tools by its own scheme, with the line of the page for it', async () => {
    const admitting = await tryPage(packed, 'try-cursor', (text) =>
      text.replace('// redirectUris', 'redirectUris'),
    )
    try {
      expect(await throughCursor(admitting.issuer, cursorUris.scheme)).toEqual(['list_notes', 'write_note'])
    } finally {
      await admitting.stop()
    }
  })
})

describe('the page of an existing application, followed in an empty folder', () => {
  let client: StartedServer
  let application: GuidedApplication
  let browser: Browser
  beforeAll(async () => {
    client = await startServer((_request, response) => void response.end('At the app'))
    application = await followGuide(packed, client.port)
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser.close()
    await application.stop()
    await client.stop()
  })

  const fontOf = (page: Page) => page.evaluate('getComputedStyle(document.body).fontFamily')
  const ownDesign = 'Georgia, serif'

  test('asks in its own design, admits the token of the app, and refuses it after the owner has removed the app', async () => {
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
    expect(await fontOf(page)).toBe(ownDesign)
    await page.getByLabel('Delete your photos').check()
    await press(page, 'Allow')
    await page.getByText('At the app').waitFor()

    const code = new URL(page.url()).searchParams.get('code') ?? ''
    const body = new URLSearchParams({ ...redemption, code })
    const tokens: unknown = await (await fetch(`${origin}/token`, { method: 'POST', body })).json()
    expect(tokens).toMatchObject({ scope: 'photos:read photos:delete' })
    const headers = { Authorization: `Bearer ${Object(tokens).access_token}` }
    const photos = () => fetch(`${origin}/api/photos`, { headers })
    expect(await (await photos()).json()).toEqual({ photosOf: 'u-1815' })

    await page.goto(origin)
    await follow(page, () => page.getByRole('link', { name: 'Connected apps' }).click())
    expect(await page.locator('section').innerText()).toMatch(
      /^Album\n[^]*Delete your photos[^]*Allowed on 20/,
    )
    expect(await fontOf(page)).toBe(ownDesign)
    await follow(page, () => page.getByRole('link', { name: 'Remove Album' }).click())
    expect((await photos()).status).toBe(200)
    await press(page, 'Remove')
    await page.getByText('No app can access your account.').waitFor()
    expect(await page.getByRole('status').innerText()).toContain('Album is removed.')
    expect((await photos()).status).toBe(401)
    expect(application.output()).toBe('')
  })

  test('shows an error in its own design', async () => {
    const page = await browser.newPage()
    await page.goto(`${application.origin}/authorize?client_id=unknown`)
    expect(await page.getByRole('heading').innerText()).toBe('This request cannot go on')
    expect(await page.getByText('The app is not known here, or is blocked.').count()).toBe(1)
    expect(await fontOf(page)).toBe(ownDesign)
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

  test('has a README whose own links all lead into it, and which begins with what and how to install', () => {
    const readme = packed.read('README.md')
    const links = Array.from(readme.matchAll(/\]\((?!https?:|#)([^)\s#]+)/g), ([, path]) => path)
    expect(packed.files()).toEqual(expect.arrayContaining(links))
    const [, first] = /^```sh\n(.*)$/m.exec(readme) ?? []
    expect(first).toMatch(/^npm ci && npm pack/)
    const [, opening = ''] = readme.split('\n\n')
    expect(opening.split(/(?<=\.) /)[2]).toMatch(/^It is OAuth 2\.0, and with \[a plug-in\]/)
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

describe('the compilers of this repository', () => {
  test('do not take the place of one another: the command tsc is the one that builds', () => {
    const command = realpathSync(join(root, 'node_modules/.bin/tsc'))
    expect(command).toBe(join(realpathSync(join(root, 'node_modules/typescript')), 'bin/tsc'))
  })

  test('are those that the titles name', () => {
    const versions = compilers.map(([, compiler]) => {
      const manifest: unknown = require(`${compiler}/package.json`)
      return isRecord(manifest) ? manifest['version'] : undefined
    })
    expect(versions).toEqual([expect.stringMatching(/^5\.9\./), expect.stringMatching(/^7\./)])
  })
})
