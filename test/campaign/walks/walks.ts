// Walks: what of lib/ a reader crosses to follow one request. Printed for a warm server with Redis, the default limits,
// PKCE and a client secret sent by Basic.
//
//   npm run walks              the table
//   npm run walks -- --files   the files of each walk, in the order in which they are first entered
//
//   files              in which some function ran
//   rooms              folders at the top of lib/ that hold these files
//   functions          different functions that ran
//   calls              every call of them
//   returns            how often a function gave control back to its caller in lib/: at its end, or at its first wait
//   depth              the largest number of functions of lib/ on the stack at once
//   changes            from one file to another: calls, returns, and functions that go on after a wait
//   different changes  the same, and a loop counts once
//
// Generators do not count, nor does what runs when lib/ is loaded.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import express from 'express'
import { Redis } from 'ioredis'
import type * as Library from '../../../lib/index'
import { startRedis } from '../../support/redis-server'
import { instrumentLibrary } from './register'
import type { Walk } from './journal'

const journal = instrumentLibrary()
// Enough for a warm server, and far below the default limits.
const rounds = 20
const redirectUri = 'https://client.example/callback'

async function run(): Promise<void> {
  // Loaded here, so that its files are instrumented.
  const library: typeof Library = require('../../../lib/index')
  const { createAuthorizationServer, hashClientSecret, redisStore } = library
  const server = await startRedis()
  const redis = new Redis(server.url)
  const clientSecret = await hashClientSecret('a-chosen-secret-of-the-walker')
  const makeServer = (at: string) =>
    createAuthorizationServer({
      issuer: at,
      clients: [
        {
          client_id: 'walker',
          client_name: 'Walker',
          client_type: 'confidential',
          client_secret_hashes: [clientSecret],
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
          scope: 'photos:read',
        },
      ],
      scopes: { 'photos:read': 'See your photos' },
      resourceOwner: () => ({ subject: 'alice', sessionId: 'a session' }),
      login: (_request, response) => response.status(401).end(),
      store: redisStore({ client: redis }),
    })
  const app = express()
  const listening = app.listen(0)
  await once(listening, 'listening')
  const address = listening.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  const origin = `http://localhost:${address.port}`
  const oauth = makeServer(origin)
  app.use(oauth.router())
  app.get('/photos', oauth.bearerGuard('photos:read'), (_request, response) => void response.json([]))
  const walks = new Map<string, Walk>()
  const walk = async <T>(name: string, step: () => T | Promise<T>): Promise<T> => {
    journal.start()
    const result = await step()
    walks.set(name, journal.end())
    return result
  }
  try {
    for (let round = 0; round < rounds; round += 1) {
      await walk('construction', async () => {
        const made = makeServer(origin)
        made.router()
        made.bearerGuard('photos:read')
      })
      await followOnce(origin, walk)
    }
    print(walks, process.argv.includes('--files'))
  } finally {
    await oauth.close()
    listening.close()
    redis.disconnect()
    await server.stop()
  }
}

type Step = <T>(name: string, step: () => T | Promise<T>) => Promise<T>

async function followOnce(origin: string, walk: Step): Promise<void> {
  const verifier = randomBytes(32).toString('base64url')
  const question = new URLSearchParams({
    response_type: 'code',
    client_id: 'walker',
    redirect_uri: redirectUri,
    scope: 'photos:read',
    state: 'a state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const page = await walk('authorization page', () => answerOf(`${origin}/authorize?${question.toString()}`))
  const decision = new URLSearchParams({ decision: 'approve' })
  for (const [, name = '', value = ''] of page.body.matchAll(
    /<input type="hidden" name="([^"]*)" value="([^"]*)"/g,
  ))
    decision.append(name, value)
  const decided = await walk('decision', () =>
    post(`${origin}/authorize`, decision, { 'sec-fetch-site': 'same-origin' }),
  )
  const code = new URL(decided.location).searchParams.get('code') ?? ''
  const credentials = Buffer.from('walker:a-chosen-secret-of-the-walker').toString('base64')
  const token = (fields: Record<string, string>) =>
    post(`${origin}/token`, new URLSearchParams(fields), { authorization: `Basic ${credentials}` })
  const redeemed = await walk('code', () =>
    token({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }),
  )
  const refreshToken = memberOf(redeemed.body, 'refresh_token')
  const refreshed = await walk('refresh', () =>
    token({ grant_type: 'refresh_token', refresh_token: refreshToken }),
  )
  const accessToken = memberOf(refreshed.body, 'access_token')
  const photos = await walk('guard', () =>
    answerOf(`${origin}/photos`, { headers: { authorization: `Bearer ${accessToken}` } }),
  )
  if (photos.status !== 200) throw new Error(`The guarded route answered ${photos.status}: ${photos.body}`)
  const granted = await walk('client credentials', () =>
    token({ grant_type: 'client_credentials', scope: 'photos:read' }),
  )
  memberOf(granted.body, 'access_token')
}

function memberOf(body: string, name: string): string {
  const answer: unknown = JSON.parse(body)
  const member: unknown =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined
  if (typeof member === 'string') return member
  throw new Error(`The answer has no ${name}: ${body}`)
}

interface Answered {
  readonly status: number
  readonly body: string
  readonly location: string
}

const post = (url: string, body: URLSearchParams, headers: Record<string, string>) =>
  answerOf(url, { method: 'POST', body, headers })

async function answerOf(url: string, init: RequestInit = {}): Promise<Answered> {
  const response = await fetch(url, { ...init, redirect: 'manual' })
  return {
    status: response.status,
    body: await response.text(),
    location: response.headers.get('location') ?? '',
  }
}

function print(walks: ReadonlyMap<string, Walk>, withFiles: boolean): void {
  const rows = [...walks].map(([name, walk]) => ({
    walk: name,
    files: walk.files.length,
    rooms: new Set(walk.files.map(roomOf)).size,
    functions: walk.functions,
    calls: walk.calls,
    returns: walk.returns,
    depth: walk.depth,
    changes: walk.changes,
    'different changes': walk.differentChanges,
  }))
  console.table(rows)
  if (!withFiles) return
  for (const [name, { files }] of walks) process.stdout.write(`\n${name}\n  ${files.join('\n  ')}\n`)
}

const roomOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '.')

run().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
