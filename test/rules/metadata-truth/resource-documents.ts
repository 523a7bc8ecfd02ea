import request from 'supertest'
import { pathOf } from '../../support/flows/resources'
import type { Exercise } from './exercises'
import { type Host, metadataOf } from './hosts'
import { provingExercise } from './signed-exercises'
import * as registries from './registries'

/** What the metadata of a resource says, as a client finds it. */
export async function documentOf({ flow }: Host, resource: string): Promise<Host['metadata']> {
  const path = new URL(resource).pathname.replace(/^\/$/, '')
  return metadataOf(flow, `/.well-known/oauth-protected-resource${path}`)
}

/** How clients use each member of the metadata of a resource that the suite writes and that offers something. */
export const resourceExercises = (resource: string): ReadonlyMap<string, Exercise> =>
  new Map<string, Exercise>([
    [
      'resource',
      {
        known: Object.keys(pathOf),
        good: '200',
        refused: '401',
        attempt: async (host, other) => callBy(host, other, 'header', await tokenFor(host, resource)),
      },
    ],
    [
      'authorization_servers',
      {
        known: [],
        good: 'is the issuer',
        refused: 'is not the issuer',
        async attempt({ flow }, issuer) {
          const path = new URL(issuer).pathname.replace(/^\/$/, '')
          const metadata = await metadataOf(flow, `/.well-known/oauth-authorization-server${path}`)
          return metadata['issuer'] === issuer ? 'is the issuer' : 'is not the issuer'
        },
      },
    ],
    [
      'scopes_supported',
      {
        known: ['photos:read', 'photos:print', 'reports:write', 'chat', ...registries.scopes],
        good: '200',
        refused: 'invalid_scope',
        async attempt(host, scope) {
          const token = await tokenFor(host, resource, scope)
          return token.startsWith('at_') ? callBy(host, resource, 'header', token) : token
        },
      },
    ],
    [
      'bearer_methods_supported',
      {
        known: ['header', 'body', 'query'],
        good: '200',
        refused: '401',
        attempt: async (host, method) => callBy(host, resource, method, await tokenFor(host, resource)),
      },
    ],
    ['dpop_signing_alg_values_supported', provingExercise],
  ])

/** An access token for a resource, or the error code. */
async function tokenFor({ flow, gallery }: Host, resource: string, scope = 'photos:read'): Promise<string> {
  const asked = { grant_type: 'client_credentials', scope, resource }
  const { body } = await flow.request(gallery, asked)
  return String(body.access_token ?? body.error)
}

/** The status of a call with a token by a method of RFC 6750 2. */
async function callBy(
  { app }: Host,
  resource: string,
  method: string,
  access_token: string,
): Promise<string> {
  const path = String(pathOf[resource])
  const calls = {
    header: () => request(app).get(path).auth(access_token, { type: 'bearer' }),
    body: () => request(app).post(path).type('form').send({ access_token }),
    query: () => request(app).get(path).query({ access_token }),
  }
  const call = new Map(Object.entries(calls)).get(method)
  if (call === undefined) throw new Error(`No exercise sends a token by ${method}.`)
  return String((await call()).status)
}
