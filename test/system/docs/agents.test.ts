import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import express from 'express'
import request from 'supertest'
import {
  ConfigurationError,
  createAuthorizationServer,
  type AuthorizationServer,
} from 'express-authorization-server'
import { bundled } from '../../support/bundled'
import { warningsOf } from '../../support/warnings'
import { read, root } from './example'

const page = read('docs/agents.md')
const namesIn = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, name = '']) => name)

describe('The programs of the page', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'agents-'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const [, name = '', program = ''] of page.matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gms))
      writeFileSync(join(folder, name), program)
    const options = { extends: join(root, 'tsconfig.json'), include: ['*.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const run = (...words: readonly string[]) =>
    execFileSync(process.execPath, words, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })

  test('are all of its code', () => {
    expect(page.match(/^```ts\n\/\/ \S+\n/gm)).toHaveLength(page.match(/^```\w/gm)?.length ?? 0)
  })

  test('compile', () => {
    expect(run(join(root, 'node_modules/typescript/bin/tsc'), '-p', folder)).toBe('')
  })

  test('pass their own tests', () => {
    expect(run('--test-reporter=tap', bundled(join(folder, 'app.test.ts')))).toMatch(/^# pass 2\n# fail 0$/m)
  })
})

test('the page names every import path, with what it exports', () => {
  const rows = Array.from(
    page.matchAll(/^\| ((?:nothing|`\/).*?) +\| (.*?) +\|$/gm),
    ([, paths = '', exported = '']) => ({
      modules:
        paths === 'nothing' ? ['index'] : namesIn(paths, /`\/([\w-]+)`/g).map((path) => `paths/${path}`),
      exported: namesIn(exported, /`(\w+)`/g),
    }),
  )
  const files = readdirSync(join(root, 'lib/paths')).map((file) => `paths/${basename(file, '.ts')}`)
  expect(rows.flatMap(({ modules }) => modules).toSorted()).toEqual(['index', ...files].toSorted())
  for (const { modules, exported } of rows) {
    const known: readonly object[] = modules.map((module) => require(join(root, 'lib', module)))
    expect(known.flatMap((module) => Object.keys(module))).toEqual(expect.arrayContaining(exported))
    for (const module of known) expect(exported.filter((name) => name in module)).not.toEqual([])
  }
})

const client = {
  client_id: 'album',
  client_type: 'public',
  redirect_uris: ['https://album.example/callback'],
  scope: 'photos:read',
}
const right = {
  issuer: 'http://localhost:3000',
  scopes: { 'photos:read': 'See your photos' },
  clients: [client],
  resourceOwner: () => ({ subject: 'ada' }),
}
const make = (options: object): AuthorizationServer =>
  Reflect.apply(createAuthorizationServer, undefined, [{ ...right, ...options }])
const registered = (member: object) => ({ clients: [{ ...client, ...member }] })

/** Why a server does not start. */
function issuesOf(options: object): string {
  try {
    make(options)
    return ''
  } catch (error) {
    return error instanceof ConfigurationError ? error.message : String(error)
  }
}

function inProduction<Value>(act: () => Value): Value {
  const { NODE_ENV } = process.env
  process.env['NODE_ENV'] = 'production'
  try {
    return act()
  } finally {
    process.env['NODE_ENV'] = NODE_ENV
  }
}

/** What the events say of an authorization request. */
async function saidOf(parameters: object, options: object = {}) {
  const said: unknown[] = []
  const oauth = make(options)
  oauth.events.on('refused', ({ reason }) => said.push(reason))
  oauth.events.on('failure', ({ cause }) => said.push(cause))
  const query = { client_id: 'album', response_type: 'code', scope: 'photos:read', ...parameters }
  await request(express().use(oauth.router())).get('/authorize').query(query)
  return said.join('\n')
}

const session = ({ session: { user } }: { readonly session: { readonly user: unknown } }) => user

/** The codes of warnings about a consent page behind the defaults of helmet. */
async function warnedBehindHelmet() {
  const warnings = await warningsOf(`
    const client = { client_id: 'a', client_type: 'public', redirect_uris: ['https://a.example/'], scope: 'a' }
    const pages = { consent: (request, response) => response.send('mine') }
    const oauth = createAuthorizationServer({ ...options, clients: [client], resourceOwner: () => 'ada', pages, pkce: 'none' })
    await serve(express().use(require('helmet')(), oauth.router()), async (url) => {
      await fetch(url + '/authorize?response_type=code&client_id=a&scope=a', { headers: { 'Sec-Fetch-Site': 'none' } })
    })
  `)
  return warnings.map(({ code }) => code).join('\n')
}

const proof = { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' }
const provoked: Readonly<Record<string, () => string | Promise<string>>> = {
  'is not known here. Did you mean redirect_uris?': () => issuesOf(registered({ redirectUris: [] })),
  'is the secret itself': () => issuesOf(registered({ client_type: 'confidential', client_secret: 'abc' })),
  'names a scope that the server does not have': () => issuesOf(registered({ scope: 'photos:print' })),
  'which this server does not offer': () => issuesOf(registered({ grant_types: ['urn:example:grant'] })),
  'must survive restarts and be shared by all processes': () => inProduction(() => issuesOf({})),
  'must use https unless its host is loopback': () => issuesOf({ issuer: 'http://photos.example' }),
  redirect_uri_mismatch: () => saidOf({ ...proof, redirect_uri: 'https://album.example/callback/' }),
  pkce_challenge_missing: () => saidOf({}),
  "Cannot read properties of undefined (reading 'user')": () => saidOf(proof, { resourceOwner: session }),
  EAS_FORM_ACTION: warnedBehindHelmet,
}

const messages = Array.from(
  page.matchAll(/^- `([^`]+)`: |^- `([^`]+\?)` /gm),
  ([, one, other]) => one ?? other ?? '',
)

test('the page has the messages of ten mistakes', () => {
  expect(messages).toEqual(Object.keys(provoked))
  expect(messages).toHaveLength(10)
})

test.each(Object.entries(provoked))('a host that makes the mistake reads “%s”', async (message, provoke) => {
  expect(await provoke()).toContain(message)
})
