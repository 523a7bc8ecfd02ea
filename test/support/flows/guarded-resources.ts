import express, { type Express, type RequestHandler } from 'express'
import request from 'supertest'
import {
  type BearerGuard,
  createAuthorizationServer,
  memoryStore,
  type ProtectedResourcePart,
} from '../../../lib/index'
import { createBearerGuard } from '../../../lib/paths/guards'
import { hub } from '../assertions/jwt'
import { accessClaims, accessJwt } from '../jwt-guard/access-tokens'
import { hubKeys } from '../jwt-guard/guarded-photos'
import { canonicalOptions } from './application'
import { nightlyReport } from './clients'
import { Flow } from './flow'
import { tokensOf } from './tokens'

export const api = 'https://api.example/mcp'
export const apiMetadata = 'https://api.example/.well-known/oauth-protected-resource/mcp'
export const photos = { scopes: ['photos:read', 'photos:print'] }
export const wellKnown = '/.well-known/oauth-protected-resource'

/** A guard, and the part that serves the metadata of its resource. */
export interface Guarded {
  readonly guard: BearerGuard
  readonly protectedResource: ProtectedResourcePart
  readonly issuer: string
  /** A token for `photos:read` alone. */
  readonly token: () => Promise<string>
}

/** Each kind of guard, for the resource of this URI. */
export const kinds: readonly [string, (uri: string, issuer?: string) => Guarded][] = [
  [
    'a guard of the server',
    (uri, issuer = 'http://localhost') => {
      const server = createAuthorizationServer({ ...canonicalOptions, issuer, resources: { [uri]: photos } })
      const app = express().use(new URL(issuer).pathname, server.router())
      const { bearerGuard: guard, protectedResource } = server
      return { guard, protectedResource, issuer, token: tokenFrom(app, issuer) }
    },
  ],
  [
    'a guard in another process',
    (uri, issuer = 'http://localhost') => {
      const resources = { [uri]: photos }
      const store = memoryStore()
      const server = createAuthorizationServer({ ...canonicalOptions, issuer, store, resources })
      const guard = createBearerGuard({ issuer, store, resources })
      const app = express().use(new URL(issuer).pathname, server.router())
      const { protectedResource } = guard
      return { guard, protectedResource, issuer, token: tokenFrom(app, issuer) }
    },
  ],
  [
    'a guard for JWTs',
    (uri) => {
      const { issuer } = hub
      const guard = createBearerGuard({ issuer, resources: { [uri]: photos }, jwt: { jwks: hubKeys } })
      const token = async () => accessJwt(accessClaims(Math.floor(Date.now() / 1000), { aud: uri }))
      return { guard, protectedResource: guard.protectedResource, issuer, token }
    },
  ],
]

function tokenFrom(app: Express, issuer: string): () => Promise<string> {
  const token = `${new URL(issuer).pathname.replace(/\/$/, '')}/token`
  const asked = { grant_type: 'client_credentials', scope: 'photos:read' }
  return async () => tokensOf(await new Flow(app).request(nightlyReport, asked, token)).accessToken
}

const answer: RequestHandler = (req, res) => {
  res.json(req.auth ?? 'in')
}

export async function ask(guard: RequestHandler, token?: string, headers: Record<string, string> = {}) {
  const test = request(express().get('/', guard, answer))
    .get('/')
    .set(headers)
  const response = await (token === undefined ? test : test.auth(token, { type: 'bearer' }))
  return { status: response.status, challenge: response.get('WWW-Authenticate'), body: response.body }
}
