import {
  createBearerGuard,
  createJwtBearerGuard,
  jwtAccessTokenReader,
  memoryStore,
  signingKeys,
  type AuthorizationServerOptions,
} from '../../../lib/index'
import { jwt, signer, type Signer } from '../assertions/jwt'
import { application, canonicalOptions } from '../flows/application'
import { Clock } from '../flows/clock'
import { partOf, withJwts } from '../flows/jwt-tokens'
import { gallery, mountResources, photosApi } from '../flows/resources'

const { issuer } = canonicalOptions

/** The key with which the server signs, so that a test can sign what the server never would. */
export const ownKey = signer(issuer, 'own')

type Members = Readonly<Record<string, unknown>>

/** A server whose access tokens are JWTs, and every guard of its tokens that verifies them. */
export function ownGuards(options: Partial<AuthorizationServerOptions> = {}) {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const signing = signingKeys({ keys: [{ privateKey: ownKey.privateKey, kid: ownKey.kid }] })
  const set = application(withJwts({ store, clock: clock.read, ...options }, {}, signing), {
    mount: mountResources,
  })
  const keys = { keys: [ownKey.jwk] }
  const elsewhere = createBearerGuard({
    issuer,
    store,
    clock: clock.read,
    resources: { [photosApi]: { scopes: ['photos:read'] } },
    plugIns: [jwtAccessTokenReader({ keys })],
  })
  const alone = createJwtBearerGuard({ issuer, audience: photosApi, keys, clock: clock.read })
  const ofServer = { resource: photosApi }
  const guards = {
    '/store': set.oauth.bearerGuard('photos:read', ofServer),
    '/signature': set.oauth.bearerGuard('photos:read', { ...ofServer, verify: 'signature' }),
    '/elsewhere': elsewhere('photos:read'),
    '/alone': alone('photos:read'),
  }
  for (const [path, guard] of Object.entries(guards))
    set.app.get(path, guard, (request, response) => void response.json(request.oauth))
  const paths = Object.keys(guards)

  const open = (path: string, token: string) =>
    set.flow.open(path, undefined, { Authorization: `Bearer ${token}` })
  const answersOf = (token: string) => Promise.all(paths.map((path) => open(path, token)))
  return {
    ...set,
    clock,
    paths,
    open,
    answersOf,
    /** The status of each guard for a token; one number if all agree. */
    async statusOf(token: string): Promise<number | readonly number[]> {
      const statuses = (await answersOf(token)).map(({ status }) => status)
      const [first = 0] = statuses
      return statuses.every((status) => status === first) ? first : statuses
    },
    /** An access token that an owner approved for the photos. */
    async token(asking: Parameters<typeof set.flow.approve>[1] = {}): Promise<string> {
      const asked = { scope: 'photos:read', resource: photosApi, ...asking }
      const { body } = await set.flow.redeem(gallery, await set.flow.approve(gallery, asked))
      return String(body.access_token)
    },
    /** The same token, bent, and signed again: the record of the token stays good. */
    signed: (token: string, claims: Members = {}, header: Members = {}, by: Signer = ownKey) =>
      jwt(by, { ...partOf(token, 1), ...claims }, { ...partOf(token, 0), ...header }),
  }
}
