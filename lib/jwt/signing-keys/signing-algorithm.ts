import { kind } from '../../primitives/schema'
import { constants, generateKeyPair, type KeyObject, sign, type SignKeyObjectInput } from 'node:crypto'
import { promisify } from 'node:util'
import { joinNumbers } from './p256-signature'

/** RFC 7518 3.1, RFC 8037 3.1. */
export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'PS256'

interface AlgorithmRow {
  /** Off the event loop. */
  readonly generate: () => Promise<KeyObject>
  readonly fits: (key: KeyObject) => boolean
  /** In the form of a JWS (RFC 7515). */
  readonly sign: (key: KeyObject, text: Buffer) => Promise<Buffer>
}

const generatePair = promisify(generateKeyPair)

// A signature with RSA takes more than 0.5 ms, which would hold up other requests; on a curve less than 0.1
// ms.
const signOffLoop = (key: KeyObject | SignKeyObjectInput, text: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sign('sha256', text, key, (error, signature) => {
      if (error === null) resolve(signature)
      else reject(error)
    })
  })

const rsa: Omit<AlgorithmRow, 'sign'> = {
  generate: async () => (await generatePair('rsa', { modulusLength: 2048 })).privateKey,
  // RFC 7518 3.3 and 3.5: 2048 bits or more.
  fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
    asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048,
}

const withSalt = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
}

const rows: Readonly<Record<SigningAlgorithm, AlgorithmRow>> = {
  ES256: {
    generate: async () => (await generatePair('ec', { namedCurve: 'P-256' })).privateKey,
    fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
      asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1',
    sign: async (key, text) => joinNumbers(sign('sha256', text, key)),
  },
  EdDSA: {
    generate: async () => (await generatePair('ed25519')).privateKey,
    fits: ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519',
    sign: async (key, text) => sign(undefined, text, key),
  },
  RS256: { ...rsa, sign: signOffLoop },
  PS256: {
    ...rsa,
    // RFC 7518 3.5: the salt is as long as the digest.
    sign: (key, text) => signOffLoop({ key, ...withSalt }, text),
  },
}

/** The recommended one first. */
export const signingAlgorithms: readonly SigningAlgorithm[] = ['ES256', 'EdDSA', 'RS256', 'PS256']

export const isSigningAlgorithm = (value: unknown): value is SigningAlgorithm =>
  signingAlgorithms.some((name) => name === value)

export const algorithmOf = (name: SigningAlgorithm): AlgorithmRow => rows[name]

export const signingAlgorithm = kind(isSigningAlgorithm, `must be one of ${signingAlgorithms.join(', ')}.`)
