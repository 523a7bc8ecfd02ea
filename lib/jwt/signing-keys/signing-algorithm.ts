import { kind } from '../../primitives/schema'
import { constants, generateKeyPair, type KeyObject, sign, type SignKeyObjectInput } from 'node:crypto'
import { promisify } from 'node:util'

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

// In place of the option `dsaEncoding`: Node 24 looks at an object of options as if it could be a key, 22 µs
// each time, so `crypto.sign` takes 75 µs with it and 30 µs without.

const numberLength = 32

/** RFC 7518 3.4. */
function joinNumbers(der: Buffer): Buffer {
  // Tag and length of the sequence, then of each number, with its bytes. All lengths are below 128.
  const endOfFirst = 4 + der.readUInt8(3)
  const joined = Buffer.alloc(2 * numberLength)
  putNumber(joined, numberLength, der.subarray(4, endOfFirst))
  putNumber(joined, 2 * numberLength, der.subarray(endOfFirst + 2))
  return joined
}

function putNumber(joined: Buffer, end: number, bytes: Buffer): void {
  const number = bytes.subarray(-numberLength)
  number.copy(joined, end - number.length)
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
