import type { Mutation } from './mutation'

/** Breaks of the rules of published keys. */
export const signingKeyRules: readonly Mutation[] = [
  [
    'KEY-1',
    'signingKeyOf',
    'const jwk = publicJwk(createPublicKey(privateKey))',
    "const jwk = { ...publicJwk(createPublicKey(privateKey)), ...Object(privateKey.export({ format: 'jwk' })) }",
  ],
  ['KEY-2', 'publishedKeys', 'application/jwk-set+json; charset=utf-8', 'application/json; charset=utf-8'],
  ['KEY-3', 'readGivenKeys', 'own.some((name) => names.has(name))', 'false'],
  ['KEY-4', 'thumbprintOf', "hash('sha256',", "hash('sha512',"],
  ['KEY-4', 'material', "['crv', 'e', 'kty', 'n', 'x', 'y']", "['kty', 'crv', 'e', 'n', 'x', 'y']"],
  ['KEY-5', 'published', "use: 'sig', ", ''],
  ['KEY-5', 'published', ', alg: algorithm', ''],
  [
    'KEY-6',
    'rsa',
    '(asymmetricKeyDetails?.modulusLength ?? 0) >= 2048',
    'asymmetricKeyDetails !== undefined',
  ],
  ['KEY-6', 'rsa', 'modulusLength: 2048', 'modulusLength: 1536'],
  [
    'KEY-7',
    'rows',
    "asymmetricKeyDetails?.namedCurve === 'prime256v1'",
    'asymmetricKeyDetails !== undefined',
  ],
  ['KEY-8', 'rows', "joinNumbers(sign('sha256', text, key))", "sign('sha256', text, key)"],
  ['KEY-8', 'withSalt', 'constants.RSA_PSS_SALTLEN_DIGEST', 'constants.RSA_PSS_SALTLEN_MAX_SIGN'],
  ['KEY-9', 'rows', 'sign(undefined, text, key)', 'text'],
  [
    'KEY-9',
    'verifyClaims',
    'await jose.jwtVerify(token, key, expected(issuer, now, terms))',
    'Object({ payload: jose.decodeJwt(token), key, expected })',
  ],
  ['KEY-10', 'publishedFor', '600', '3600'],
  ['KEY-10', 'leadTime', 'publishedFor + clockTolerance', 'publishedFor - publishedFor'],
  ['KEY-11', 'endOf', 'successor.signsFrom + key.longest + clockTolerance', 'successor.signsFrom'],
  [
    'KEY-12',
    'KeySeal.purposeOf',
    '${JSON.stringify(this.issuer)} ${textOfTimes(key)}',
    '${JSON.stringify(this.issuer)}',
  ],
  [
    'KEY-12',
    'KeySeal.seal',
    'sealText(secretText, { credential, purpose: this.purposeOf(times) }, this.random)',
    'secretText',
  ],
  ['KEY-13', 'SharedKeys.change', '!retired.includes(kid) && !valid.some(', '!valid.some('],
  ['KEY-14', 'readGivenKeys', '[key.kid, thumbprintOf(key.publicKey)]', '[key.kid]'],
  ['KEY-14', 'readGivenKey', 'if (!algorithmOf(algorithm).fits(key))', 'if (false)'],
  ['KEY-15', 'keyRing', 'typ: type, kid: key.kid', 'typ: type'],
]
