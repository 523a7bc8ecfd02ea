import { createJwtBearerGuard } from '../../lib/server/jwt-guard'
import { hub } from '../support/assertions/jwt'
import { type Maker, mistakesOf } from '../support/rooms/mistakes-of'

const javascript: Maker = { make: createJwtBearerGuard }
const canonical = { issuer: hub.issuer, audience: 'https://photos.example', keys: { keys: [hub.jwk] } }

const issuesIn = (options: unknown) => mistakesOf(javascript, options)
// An undefined member is a mistake of its own.
const pathsWith = (bend: object) => {
  const given = Object.entries({ ...canonical, ...bend }).filter(([, value]) => value !== undefined)
  return issuesIn(Object.fromEntries(given)).map(({ path }) => path)
}
const withUri = (jwksUri: unknown) => ({ keys: undefined, jwksUri })

describe('createJwtBearerGuard', () => {
  it.each([undefined, null, 'options', []])('lists what is missing in %j', (options) => {
    expect(issuesIn(options).map(({ path }) => path)).toEqual(['options', 'issuer', 'audience', 'keys'])
  })

  it('lists every mistake at once, each with its path and cure', () => {
    expect(issuesIn({ issuer: '', audience: [], type: 'JWE', maximumCache: 1 })).toEqual([
      { path: 'type', message: "must be 'at+jwt' or 'JWT'." },
      { path: 'issuer', message: 'must be the iss of the tokens.' },
      {
        path: 'audience',
        message: 'must be the value in aud of the tokens that names this resource server.',
      },
      { path: 'keys', message: 'or jwksUri must be given, and not both.' },
      {
        path: 'maximumCache',
        message:
          'is not known here. Did you mean maximumCached? The known names are algorithms, audience, clientIdClaim, clock, clockTolerance, ' +
          'closeDeadline, cors, counters, errorUri, explainRefusals, extensions, guards, implies, issuer, jwksUri, keys, limits, maximumAge, maximumCached, plugIns, resource, scopeClaim, tokenTypes, type.',
      },
    ])
  })

  it.each([
    [{ issuer: 7 }, 'issuer'],
    [{ audience: '' }, 'audience'],
    [{ audience: ['a', 7] }, 'audience'],
    [{ keys: [hub.jwk] }, 'keys'],
    [{ keys: { keys: [] } }, 'keys'],
    [{ keys: { keys: [{ kty: 'oct', k: 'AAAA' }] } }, 'keys.keys[0]'],
    [{ keys: { keys: [hub.jwk, hub.privateKey.export({ format: 'jwk' })] } }, 'keys.keys[1]'],
    [{ jwksUri: 'https://issuer.example/jwks.json' }, 'keys'],
    [withUri('http://issuer.example/jwks.json'), 'jwksUri'],
    [withUri('https://ada:secret@issuer.example/jwks'), 'jwksUri'],
    [withUri('file:///etc/jwks.json'), 'jwksUri'],
    [withUri(7), 'jwksUri'],
    [{ algorithms: [] }, 'algorithms'],
    [{ algorithms: ['HS256'] }, 'algorithms'],
    [{ algorithms: ['none'] }, 'algorithms'],
    [{ type: 'jwt' }, 'type'],
    [{ type: null }, 'type'],
    [{ clientIdClaim: '' }, 'clientIdClaim'],
    [{ scopeClaim: 7 }, 'scopeClaim'],
    [{ clockTolerance: -1 }, 'clockTolerance'],
    [{ clockTolerance: 301 }, 'clockTolerance'],
    [{ maximumCached: -1 }, 'maximumCached'],
    [{ maximumCached: 0.5 }, 'maximumCached'],
    [{ maximumCached: Infinity }, 'maximumCached'],
    [{ maximumAge: 0 }, 'maximumAge'],
    [{ maximumAge: 86_401 }, 'maximumAge'],
    [{ closeDeadline: 0 }, 'closeDeadline'],
    [{ clock: 7 }, 'clock'],
    [{ errorUri: 'nowhere' }, 'errorUri'],
    [{ implies: { a: 'b' } }, 'implies'],
    [{ guards: { realm: '"' } }, 'guards.realm'],
    [{ store: {} }, 'store'],
  ])('refuses %j at %s', (bend, path) => {
    expect(pathsWith(bend)).toEqual([path])
  })

  it.each([
    [{}],
    [{ audience: ['a', 'b'], algorithms: ['EdDSA'], type: 'JWT' }],
    [{ clockTolerance: 0, maximumCached: 0, maximumAge: 1 }],
    [{ clockTolerance: 300, maximumCached: 1_000_000, maximumAge: 86_400 }],
    [withUri('https://issuer.example/jwks.json')],
    [withUri('http://127.0.0.1:4000/jwks')],
  ])('takes %j', (bend) => {
    expect(pathsWith(bend)).toEqual([])
  })

  it.each([' ', 'photos:read  x', '"'])('makes no guard for %j', (scope) => {
    expect(() => createJwtBearerGuard(canonical)(scope)).toThrow('A bearer guard cannot work')
  })
})
