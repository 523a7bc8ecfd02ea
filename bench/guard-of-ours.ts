import type { AuthorizationServer } from 'express-authorization-server'
import { createBearerGuard } from 'express-authorization-server/guards'
import type { RequestHandler } from 'express'
import { client, scope } from './cast'
import { port } from './target'

/** The guard that `BENCH_GUARD` names; without it, the one that looks tokens up in the store. */
export function guardOfOurs(oauth: AuthorizationServer, issuer: string): RequestHandler {
  const name = process.env['BENCH_GUARD']
  if (name === undefined) return oauth.bearerGuard(scope)
  if (name === 'signature') return oauth.bearerGuard(scope, { verify: 'signature' })
  const guard = createBearerGuard({
    issuer,
    introspection: {
      client: { client_id: client.id, client_secret: client.secret },
      // The server of the same process, over a connection.
      endpoint: `http://127.0.0.1:${port}/introspect`,
      ...(name === 'introspection, asked each time' ? { maximumAge: 0 } : {}),
    },
  })
  return guard(scope)
}
