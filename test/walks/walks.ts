// Walks: which files of lib/ a reader crosses to follow one request, and how often. Printed for a warm server with Redis,
// PKCE and a client secret sent by Basic.
//
//   npm run walks              the table
//   npm run walks -- --files   the files of each walk, in the order in which they are first entered
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import express from 'express'
import { Redis } from 'ioredis'
import type * as Library from '../../lib/index'
import { startRedis } from '../support/redis-server'
import { instrumentLibrary } from './register'
import type { Walk } from './journal'

const journal = instrumentLibrary()
const rounds = 20
const redirectUri = 'https://client.example/callback'

async function run(): Promise<void> {
  // Loaded here, so that its files are instrumented.
  const library: typeof Library = require('../../lib/index')
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
          grant_types: ['authorization_code', 'refresh_token'],
          scope: 'photos:read',
        },
      ],
      scopes: { 'photos:read': 'See your photos' },
      resourceOwner: () => ({ subject: 'alice', sessionId: 'a session' }),
      login: (_request, response) => response.status(401).end(),
      store: redisStore({ client: redis }),
      openRequestLimit: false,
      rateLimit: false,
      issueLimits: false,
      clientAuthenticationLimits: false,
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
  for (let round = 0; round < rounds; round += 1) {
    await walk('construction', async () => {
      const made = makeServer(origin)
      made.router()
      made.bearerGuard('photos:read')
    })
    await followOnce(origin, walk)
  }
  print(walks, process.argv.includes('--files'))
  await oauth.close()
  listening.close()
  redis.disconnect()
  await server.stop()
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
  const page = await walk('page', () => answerOf(`${origin}/authorize?${question.toString()}`))
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
  const redeemed = await walk('redemption', () =>
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
  const rows = [...walks].map(([walk, { files, hops, functions }]) => {
    const rooms = new Set(files.map((file) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '.')))
    return { walk, files: files.length, rooms: rooms.size, hops, functions }
  })
  console.table(rows)
  if (!withFiles) return
  for (const [name, { files }] of walks) process.stdout.write(`\n${name}\n  ${files.join('\n  ')}\n`)
}

run().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
