import { createHmac } from 'node:crypto'
import { claimsAt, encoded, hub, hubOnCurve, json, jws, jwt, partner, signer } from './jwt'

/** A token that must not pass, made beside a good one with the same claims. */
export interface Forgery {
  readonly title: string
  readonly reason: string
  readonly token: string
}
const stranger = signer(hub.issuer, hub.kid, 'RS256')
const nobody = signer('https://nobody.example', 'nobody-1')

type Members = Readonly<Record<string, unknown>>
type Row = readonly [title: string, reason: string, token: string]

/** Tokens that look like the good one with these claims; now in seconds since the epoch. */
export function forgedJwts(claims: Members, now: number): readonly Forgery[] {
  return [
    ...unsigned(claims),
    ...wronglySigned(claims),
    ...ofOddForm(claims),
    ...ofOddContent(claims, now),
  ].map(([title, reason, token]) => ({ title, reason, token }))
}

const signature = 'assertion_signature_wrong'
const algorithm = 'assertion_algorithm_refused'
const key = 'assertion_key_unknown'
const header = 'assertion_header_refused'
const malformed = 'assertion_malformed'
const incomplete = 'assertion_incomplete'

const written = (text: string): string => jws(hub, encoded(text), { kid: hub.kid })

function unsigned(claims: Members): readonly Row[] {
  const rest = jwt(hub, claims).split('.').slice(1).join('.')
  const hmac = (secret: string | Buffer): string => {
    const input = `${json({ alg: 'HS256', typ: 'JWT', kid: hub.kid })}.${json(claims)}`
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  }
  return [
    ...['none', 'nOnE'].map((alg): Row => [
      `alg ${alg}, without a signature`,
      malformed,
      `${json({ alg })}.${json(claims)}.`,
    ]),
    [
      'alg none, with the signature of the good one',
      algorithm,
      `${json({ alg: 'none', kid: hub.kid })}.${rest}`,
    ],
    [
      'HS256 with the public key as PEM',
      algorithm,
      hmac(hub.publicKey.export({ type: 'spki', format: 'pem' })),
    ],
    ['HS256 with the public key as JWK', algorithm, hmac(JSON.stringify(hub.jwk))],
    ['HS256 with an empty secret', algorithm, hmac('')],
    ['no alg', malformed, `${json({ kid: hub.kid })}.${rest}`],
    ['alg of __proto__', algorithm, `${json({ alg: '__proto__', kid: hub.kid })}.${rest}`],
    ['the signature stripped', malformed, `${jwt(hub, claims).split('.').slice(0, 2).join('.')}.`],
  ]
}

function wronglySigned(claims: Members): readonly Row[] {
  const [head = '', payload = '', seal = ''] = jwt(hub, claims).split('.')
  const [, , sealOfAnother = ''] = jwt(hub, { ...claims, jti: 'another' }).split('.')
  const onCurve = jwt(hubOnCurve, claims).split('.').slice(0, 2).join('.')
  const keyInside = { jwk: stranger.jwk }
  return [
    ['the signature of another token', signature, `${head}.${payload}.${sealOfAnother}`],
    ['the payload altered', signature, `${head}.${json({ ...claims, sub: 'mallory' })}.${seal}`],
    [
      'another RSA algorithm in the header',
      signature,
      `${json({ alg: 'PS256', kid: hub.kid })}.${payload}.${seal}`,
    ],
    [
      'the kid of a key on a curve, and RSA',
      key,
      `${json({ alg: 'RS256', kid: hubOnCurve.kid })}.${payload}.${seal}`,
    ],
    ['an unknown kid', key, jwt(hub, claims, { kid: 'hub-9' })],
    ['kid as a list', key, jwt(hub, claims, { kid: [hub.kid] })],
    ['an ECDSA signature of zeros', signature, `${onCurve}.${encoded(new Uint8Array(64))}`],
    ['an issuer signed by the key of another, with its kid', key, jwt(partner, claims)],
    ['an issuer signed by the key of another', signature, jwt(partner, claims, { kid: hubOnCurve.kid })],
    ['an unknown key under the kid of a trusted one', signature, jwt(stranger, claims)],
    ['that key in the header as jwk', signature, jwt(stranger, claims, keyInside)],
    ['an x5c in the header', signature, jwt(stranger, claims, { x5c: [stranger.jwk['n']] })],
    ['an untrusted issuer', 'assertion_issuer_unknown', jwt(nobody, { ...claims, iss: nobody.issuer })],
  ]
}

function ofOddForm(claims: Members): readonly Row[] {
  const good = jwt(hub, claims)
  const [head = '', payload = '', seal = ''] = good.split('.')
  const notUtf8 = encoded(Buffer.concat([Buffer.from('{"iss":"'), Buffer.from([0xff]), Buffer.from('"}')]))
  return [
    ['two parts', malformed, `${head}.${payload}`],
    ['five parts, as an encrypted JWT has', malformed, `${head}.${seal}.${seal}.${payload}.${seal}`],
    ['padding', malformed, `${head}.${payload}.${seal}==`],
    ['a line break after it', malformed, `${good}\n`],
    ['bits to spare at the end', malformed, `${good.slice(0, -1)}${spare(good.slice(-1))}`],
    ['20 kB of it', malformed, jwt(hub, { ...claims, more: 'a'.repeat(20_000) })],
    ['a header that is no JSON', malformed, `${encoded('{')}.${payload}.${seal}`],
    ['a payload that is no JSON', malformed, written('iss=https://issuer.example')],
    ['a payload that is a list', malformed, written(JSON.stringify([claims]))],
    ['a payload that is a JWT', malformed, jws(hub, encoded(good), { kid: hub.kid, cty: 'JWT' })],
    ['a payload that is no UTF-8', malformed, jws(hub, notUtf8, { kid: hub.kid })],
    ['an unknown critical extension', header, jwt(hub, claims, { crit: ['exp'], exp: 1 })],
    ['b64 false', header, jwt(hub, claims, { b64: false })],
    ['the type of an access token', header, jwt(hub, claims, { typ: 'at+jwt' })],
    ['a type that is a list', header, jwt(hub, claims, { typ: ['JWT'] })],
  ]
}

/** Another last character that decodes to the same bytes: of a signature of 256 bytes the last four bits count not. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const spare = (last: string): string => alphabet.charAt(alphabet.indexOf(last) + 1)

function ofOddContent(claims: Members, now: number): readonly Row[] {
  const audience = 'assertion_audience_wrong'
  const bent = (bend: Members): string => jwt(hub, { ...claims, ...bend })
  const behind = (text: string): string => written(`${JSON.stringify(claims).slice(0, -1)},${text}}`)
  const wrongTexts = (name: string): Row[] =>
    [undefined, '', 7, null, ['alice']].map((value): Row => [
      `${name} ${value === undefined ? 'missing' : JSON.stringify(value)}`,
      incomplete,
      bent({ [name]: value }),
    ])
  return [
    ...['iss', 'sub', 'jti'].flatMap(wrongTexts),
    ['expired, by more than the clocks may differ', 'assertion_expired', bent({ exp: now - 30 })],
    ['too long a life', 'assertion_too_long_lived', bent({ exp: now + 3601 })],
    ['exp 1e999, which is no number', incomplete, behind('"exp":1e999')],
    ['exp missing', incomplete, bent({ exp: undefined })],
    ['exp as a text', incomplete, bent({ exp: String(now + 300) })],
    ['nbf ahead', 'assertion_not_yet_valid', bent({ nbf: now + 31 })],
    ['nbf as a text', incomplete, bent({ nbf: 'now' })],
    ['iat ahead', 'assertion_not_yet_valid', bent({ iat: now + 31 })],
    ['iat as a text', incomplete, bent({ iat: 'now' })],
    ['aud missing', incomplete, bent({ aud: undefined })],
    ['aud another server', audience, bent({ aud: 'https://other.example' })],
    ['aud of which ours is the beginning', audience, bent({ aud: 'http://localhost.evil.example' })],
    ['aud an empty list', audience, bent({ aud: [] })],
    ['aud an object', audience, bent({ aud: { 0: 'http://localhost' } })],
    ['iss __proto__', 'assertion_issuer_unknown', bent({ iss: '__proto__' })],
    [
      'iss twice, the last of them not trusted',
      'assertion_issuer_unknown',
      behind('"iss":"https://a.example"'),
    ],
    ['sub twice, the last of them empty', incomplete, behind('"sub":""')],
    ['its claims in __proto__', incomplete, written(`{"__proto__":${JSON.stringify(claims)}}`)],
    [
      'its sub in __proto__',
      incomplete,
      written(JSON.stringify({ ...claims, sub: undefined }).replace('{', '{"__proto__":{"sub":"alice"},')),
    ],
    ['the claims of another issuer', key, jwt(hub, claimsAt(now, partner))],
  ]
}
