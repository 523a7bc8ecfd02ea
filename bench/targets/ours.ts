import { createAuthorizationServer, type AuthorizationServerEvents } from 'express-authorization-server'
import { redisStore } from 'express-authorization-server/redis'
import { createHash } from 'node:crypto'
import { createApp } from '../app'
import { client, lifetimes, owner, scope } from '../cast'
import { guardOfOurs } from '../guard-of-ours'
import { connectToRedis } from '../redis-of-target'
import { serveWith } from '../serve-with'
import { identityScopes, signingOfOurs } from '../signing-of-ours'
import { inMemory } from '../storage/ours'
import { programInProcess } from '../target'

// Everything is on: digests, PKCE, rotation, limits on failures and on requests, a listener for each event.
const url = process.env['REDIS_URL'] ?? ''
const cached = process.env['BENCH_CACHE']
const issuer = 'http://127.0.0.1'
const plenty = { attempts: 1_000_000, seconds: 1 }

const isApproved = process.env['BENCH_APPROVED'] !== undefined
const publicClient = { client_type: 'public', grant_types: ['authorization_code', 'refresh_token'] } as const
const confidentialClient = {
  client_type: 'confidential',
  // As of a secret that `generateClientSecret()` made.
  client_secret_hashes: [`sha256:${createHash('sha256').update(client.secret).digest('base64url')}`],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  may_introspect: true,
} as const

const oauth = createAuthorizationServer({
  issuer,
  scopes: { ...identityScopes, [scope]: 'See your photos' },
  clients: [
    {
      client_id: client.id,
      redirect_uris: [client.redirectUri],
      scope: [...Object.keys(identityScopes), scope].join(' '),
      ...(isApproved ? publicClient : confidentialClient),
    },
  ],
  resourceOwner: () => ({ subject: owner }),
  ...(isApproved && { skipConsent: () => true }),
  ...(programInProcess === undefined ? inRedis() : inMemory()),
  lifetimes: {
    authorizationCode: lifetimes.code,
    accessToken: lifetimes.accessToken,
    refreshToken: lifetimes.refreshToken,
  },
  ...signingOfOurs(),
  pkce: 'all',
  limits: {
    networks: { authorization: plenty, clients: plenty },
    openRequests: plenty,
    // One client and one owner ask here for what thousands ask for elsewhere. The counts are kept all the same.
    issuing: { client: plenty, owner: plenty },
    singleUses: plenty,
  },
})
listen(oauth.events)

const app = createApp()
app.use(oauth.router())
app.get('/photos', guardOfOurs(oauth, issuer), (_request, response) => {
  response.json({ photos: [] })
})

// What the guarded route is held against.
const redis = connectToRedis()
app.get('/read', async (_request, response) => {
  await redis.get('photos')
  response.json({ photos: [] })
})

serveWith(app)

function inRedis() {
  return {
    store: redisStore({ url, ...(cached === undefined ? {} : { cache: { maximum: Number(cached) } }) }),
  }
}

function listen(events: AuthorizationServerEvents): void {
  let told = 0
  for (const name of ['approved', 'issued', 'refreshed', 'revoked', 'refused'] as const)
    events.on(name, () => (told += 1))
}
