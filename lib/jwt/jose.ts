import type { webcrypto } from 'node:crypto'
import { type Loaded, optionalPackage } from '../primitives/configuration-error'
import type { PublicKey } from './public-keys'

/**
 * Types of jose, an optional peer dependency: the published types must not import a package that an
 * application may lack.
 */
export interface Jose {
  createLocalJWKSet(set: { keys: PublicKey[] }): KeyLookup
  jwtVerify(token: string, key: VerificationKey, expected: ExpectedClaims): Promise<VerifiedJwt>
  compactVerify(token: string, key: VerificationKey): Promise<unknown>
  readonly errors: JoseErrors
}

/** What finds the key: `alg` and, unproven, `kid`. */
export interface Header {
  readonly alg: string
  readonly [name: string]: unknown
}

/** By `alg` and `kid`. @throws JOSEError unless exactly one key fits. */
export type KeyLookup = (header?: Header) => Promise<VerificationKey>

export type VerificationKey = webcrypto.CryptoKey

interface ExpectedClaims {
  issuer: string
  audience?: string[]
  algorithms: string[]
  /** Seconds. */
  clockTolerance: number
  currentDate: Date
}

interface VerifiedJwt {
  readonly payload: Readonly<Record<string, unknown>>
}

type ErrorClass<Instance = Error> = abstract new (...parameters: never[]) => Instance

type ClaimFailure = Error & { readonly claim: string; readonly reason: string }

interface JoseErrors {
  readonly JOSEError: ErrorClass
  readonly JWTExpired: ErrorClass
  readonly JWTClaimValidationFailed: ErrorClass<ClaimFailure>
  readonly JOSEAlgNotAllowed: ErrorClass
  readonly JWKSNoMatchingKey: ErrorClass
  readonly JWKSMultipleMatchingKeys: ErrorClass
  readonly JWSSignatureVerificationFailed: ErrorClass
}

// jose is an ES module: `import()` loads it on every supported Node, `require` only on newer ones.
async function load(): Promise<Jose> {
  try {
    return await import('jose')
  } catch (cause) {
    throw new Error('jose cannot be loaded.', { cause })
  }
}

let loading: Promise<Jose> | undefined

export const loadJose = (): Promise<Jose> => (loading ??= load())

/** At construction, so that a missing jose does not first show at a request. */
export function requireJose(asker: string): void {
  optionalPackage('jose', findJose, {
    subject: `${asker} cannot verify signatures:`,
    cure: 'run "npm install jose"',
  })
}

// A bundle has nothing to resolve: only its `require` finds the package.
function findJose(): Loaded<unknown> {
  try {
    return { found: require.resolve('jose') }
  } catch (cause) {
    try {
      return { found: require('jose') }
    } catch {
      return { cause }
    }
  }
}
