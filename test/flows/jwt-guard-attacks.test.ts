import { encoded, hub, hubOnCurve, json, jws, signer } from '../support/assertions/jwt'
import { accessClaims, accessJwt, photoServer } from '../support/jwt-guard/access-tokens'
import { guardedPhotos, hubKeys } from '../support/jwt-guard/guarded-photos'

const { ask, now, failures } = guardedPhotos()
const claims = accessClaims(now())
const good = accessJwt(claims)
const [, payload = '', seal = ''] = good.split('.')
const bent = (bend: object) => accessJwt({ ...claims, ...bend })
const written = (text: string) => jws(hub, encoded(text), { typ: 'at+jwt', kid: hub.kid })
const behind = (text: string) => written(`${JSON.stringify(claims).slice(0, -1)},${text}}`)
const stranger = signer(hub.issuer, hub.kid, 'RS256')
const wrongTexts = (name: string) =>
  [undefined, '', 7, null, ['alice']].map(
    (value) => [`${name} ${JSON.stringify(value)}`, 'jwt_incomplete', bent({ [name]: value })] as const,
  )

const unsigned = [
  [
    'alg __proto__',
    'jwt_algorithm_refused',
    `${json({ alg: '__proto__', typ: 'at+jwt' })}.${payload}.${seal}`,
  ],
  ['no alg', 'jwt_malformed', `${json({ typ: 'at+jwt' })}.${payload}.${seal}`],
  ['a stranger with the kid of the issuer', 'jwt_signature_wrong', accessJwt(claims, stranger)],
  ['an unknown kid', 'jwt_key_unknown', accessJwt(claims, hub, { kid: 'hub-9' })],
] as const

const ofAnotherKind = [
  ['an ID token that says at+jwt', 'jwt_of_another_kind', bent({ at_hash: 'x' })],
  ['bound to a key by DPoP', 'jwt_bound_to_key', bent({ cnf: { jkt: 'x' } })],
  ['cnf null', 'jwt_bound_to_key', bent({ cnf: null })],
] as const

const ofOddContent = [
  ...['iss', 'client_id'].flatMap(wrongTexts),
  ['expired', 'jwt_expired', bent({ exp: now() - 5 })],
  ['exp missing', 'jwt_incomplete', bent({ exp: undefined })],
  ['exp as a text', 'jwt_incomplete', bent({ exp: String(now() + 60) })],
  ['exp 1e999', 'jwt_incomplete', behind('"exp":1e999')],
  ['nbf ahead', 'jwt_not_yet_valid', bent({ nbf: now() + 6 })],
  ['iat ahead', 'jwt_not_yet_valid', bent({ iat: now() + 6 })],
  ['aud that ours begins', 'jwt_audience_wrong', bent({ aud: `${photoServer}.evil.example` })],
  ['iss __proto__', 'jwt_issuer_unknown', bent({ iss: '__proto__' })],
  ['scope a number', 'jwt_incomplete', bent({ scope: 7 })],
  ['scope a list', 'jwt_incomplete', bent({ scope: ['photos:read'] })],
  ['scope with two spaces', 'jwt_incomplete', bent({ scope: 'photos:read  admin' })],
  ['sub twice, the last one empty', 'jwt_incomplete', behind('"sub":""')],
  ['iss twice, the last one another', 'jwt_issuer_unknown', behind('"iss":"https://nobody.example"')],
  ['aud twice, the last one another', 'jwt_audience_wrong', behind('"aud":"https://mail.example"')],
  ['its claims in __proto__', 'jwt_incomplete', written(`{"__proto__":${JSON.stringify(claims)}}`)],
  [
    'its client in __proto__',
    'jwt_incomplete',
    written(
      JSON.stringify({ ...claims, client_id: undefined }).replace('{', '{"__proto__":{"client_id":"x"},'),
    ),
  ],
] as const

const ofOddForm = [
  ['four parts', 'jwt_malformed', `${good}.${seal}`],
  ['padding', 'jwt_malformed', `${good}==`],
  ['no JSON', 'jwt_malformed', written('iss=https://issuer.example')],
  ['a list', 'jwt_malformed', written(JSON.stringify([claims]))],
  ['a token of a store', 'jwt_malformed', `at_${'A'.repeat(64)}`],
] as const

async function refuses(_title: string, reason: string, token: string): Promise<void> {
  const response = await ask(token)
  expect(response.status).toBe(401)
  expect(response.body.error).toBe('invalid_token')
  expect(failures.at(-1)?.reason).toBe(reason)
}

describe('A guard for JWTs refuses', () => {
  test.each(unsigned)('what its issuer has not signed: %s [access-1]', refuses)
  test.each(ofAnotherKind)('what is no bearer token: %s [access-2, access-3]', refuses)
  test.each(ofOddContent)('claims that do not hold: %s [access-4, access-5]', refuses)
  test.each(ofOddForm)('what is no JWT: %s', refuses)

  test('and after all of them takes the good one, with odd claims beside it and several audiences', async () => {
    expect((await ask(good)).status).toBe(200)
    expect((await ask(behind('"__proto__":{"client_id":"mallory"}'))).body.clientId).toBe('photo-book')
    expect((await ask(bent({ aud: ['https://mail.example', photoServer] }))).status).toBe(200)
    expect(Object.hasOwn(Object.prototype, 'client_id')).toBe(false)
  })
})

describe('A guard for JWTs that has taken a token', () => {
  test('refuses it with one bit changed, wherever that is [access-6]', async () => {
    const at = guardedPhotos()
    const token = at.token()
    expect((await at.ask(token)).status).toBe(200)
    const places = Array.from({ length: 12 }, (_, index) => Math.floor((index * (token.length - 1)) / 11))
    for (const place of places) {
      const code = token.charCodeAt(place) ^ 1
      const changed = token.slice(0, place) + String.fromCharCode(code) + token.slice(place + 1)
      expect((await at.ask(changed)).status).toBe(401)
    }
    expect((await at.ask(token)).status).toBe(200)
  })

  test('says nothing to a guard for another audience [access-7]', async () => {
    const photos = guardedPhotos()
    const mail = guardedPhotos({ audience: 'https://mail.example', clock: photos.clock.read })
    const token = photos.token()
    expect((await photos.ask(token)).status).toBe(200)
    expect((await mail.ask(token)).status).toBe(401)
    expect((await photos.ask(token)).status).toBe(200)
  })

  test('says nothing to a guard that allows fewer algorithms', async () => {
    const strict = guardedPhotos({ algorithms: ['ES256'], keys: hubKeys })
    expect((await strict.ask(strict.token())).status).toBe(401)
    expect((await strict.ask(accessJwt(accessClaims(strict.now()), hubOnCurve))).status).toBe(200)
  })
})
