import { createHash, createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import {
  invalidRequest,
  type ClientAuthenticationMethod,
  type Counters,
  type Parameters,
} from 'express-authorization-server'
import { decodeJwt, errors, jwtVerify } from 'jose'

const name = 'private_key_jwt'
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const signingAlgorithms = ['ES256']
const lifetimeAtMost = 300
const clockTolerance = 10

/**
 * `private_key_jwt` (RFC 7523 2.2): the client signs who it is with a key of which the server knows the public half,
 * registered as `credentials: { private_key_jwt: { keys: [jwk] } }`, several for a rotation.
 *
 * An assertion is good once, and may live for five minutes. It is used up when it proves who the client is, whatever
 * becomes of the request: for another attempt the client signs another one.
 *
 * @param audience the issuer and the URL of the token endpoint.
 * @param counters where all processes see that an assertion was used: `redisStore({ url }).counters`.
 * @param clock milliseconds since the epoch.
 */
export function privateKeyJwt(
  audience: string[],
  counters: Counters,
  clock = Date.now,
): ClientAuthenticationMethod {
  return {
    name,
    signingAlgorithms,
    read: ({ body }) => readAssertion(body),
    mistakeIn: (credential) =>
      isPublicKeySet(credential) ? undefined : 'must be a JWK set of public P-256 keys.',
    async verify(client, assertion) {
      const registered = client?.credentials[name]
      const { keys } = isPublicKeySet(registered) ? registered : decoy
      // Always one verification, whichever key is named and whoever the client is.
      const key = ({ kid }: { kid?: string }) => publicKey(keys.find((jwk) => jwk['kid'] === kid) ?? keys[0])
      const now = clock() / 1000
      try {
        const { payload } = await jwtVerify(assertion, key, {
          issuer: client?.client_id ?? '',
          subject: client?.client_id ?? '',
          audience,
          algorithms: signingAlgorithms,
          currentDate: new Date(clock()),
          clockTolerance,
        })
        const { iss, jti, exp = Infinity } = payload
        if (
          typeof jti !== 'string' ||
          jti === '' ||
          jti.length > 256 ||
          exp > now + lifetimeAtMost + clockTolerance
        )
          return false
        const once = createHash('sha256')
          .update(JSON.stringify([iss, jti]))
          .digest('base64url')
        // A process whose clock is behind takes it for one tolerance longer.
        const seconds = Math.ceil(exp + 2 * clockTolerance - now)
        return await counters.useOnce(`${name}:${once}`, seconds, client?.client_id)
      } catch (error) {
        if (error instanceof errors.JOSEError) return false
        throw error
      }
    },
  }
}

function readAssertion(body: Parameters) {
  const [type, assertion] = [body.get('client_assertion_type'), body.get('client_assertion')]
  if (type === undefined && assertion === undefined) return undefined
  const subject = assertion === undefined ? undefined : subjectOf(assertion)
  if (type !== assertionType || assertion === undefined || typeof subject !== 'string')
    throw invalidRequest(
      'client_assertion_malformed',
      'The client assertion is no JWT, or not said to be one.',
    )
  return { clientId: subject, credential: assertion }
}

// Nothing of it is proven yet: it only says whose key to try.
function subjectOf(assertion: string): unknown {
  try {
    return decodeJwt(assertion).sub
  } catch {
    return undefined
  }
}

interface PublicKeySet {
  readonly keys: readonly JsonWebKey[]
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
const isPublicKeySet = (value: unknown): value is PublicKeySet =>
  isRecord(value) &&
  Array.isArray(value['keys']) &&
  value['keys'].length > 0 &&
  value['keys'].every(isPublicKey)
const isPublicKey = (value: unknown): value is JsonWebKey =>
  isRecord(value) && !('d' in value) && value['crv'] === 'P-256' && isPoint(value)
const isPoint = (jwk: JsonWebKey) => {
  try {
    return publicKey(jwk).type === 'public'
  } catch {
    return false
  }
}
const publicKey = (jwk: JsonWebKey = {}) => createPublicKey({ key: jwk, format: 'jwk' })

/** For unknown clients, who must cost what known ones cost. Its private half is thrown away. */
const decoy: PublicKeySet = {
  keys: [generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })],
}
