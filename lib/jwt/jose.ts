import type { webcrypto } from 'node:crypto'
import { type Loaded, optionalPackage } from '../primitives/options-reader'
import type { PublicKey } from './public-keys'

/**
 * The functions that this package uses of jose, the library that verifies signatures. The types stand here, because
 * jose is an optional peer dependency: the published types must not import a package that an application may lack.
 */
export interface Jose {
  /** Decodes the header, and verifies nothing. @throws if the text is not a JWT. */
  decodeProtectedHeader(token: string): UnprovenHeader
  /** Decodes the claims, and verifies nothing. @throws if the text is not a JWT. */
  decodeJwt(token: string): { readonly iss?: unknown }
  createLocalJWKSet(set: { keys: PublicKey[] }): KeyLookup
  /** Verifies signature and claims. @throws JOSEError if the signature is wrong or a claim is not as expected. */
  jwtVerify(token: string, key: VerificationKey, expected: ExpectedClaims): Promise<VerifiedJwt>
  /** Verifies the signature only. @throws JOSEError if the signature is wrong. */
  compactVerify(token: string, key: VerificationKey): Promise<unknown>
  readonly errors: JoseErrors
}

/**
 * The header of a JWT before verification. The types of its members prove nothing: the caller checks each member first.
 */
export interface UnprovenHeader {
  alg?: string
  typ?: string
  crit?: string[]
  b64?: boolean
  [name: string]: unknown
}

/** A header with an algorithm. */
export interface Header extends UnprovenHeader {
  alg: string
}

/** Finds the key of a set for a header, by `alg` and `kid`. @throws JOSEError unless exactly one key fits. */
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

/** @property payload Older versions of jose have none. */
type ClaimFailure = Error & {
  readonly claim: string
  readonly reason: string
  readonly payload?: { readonly aud?: unknown }
}

interface JoseErrors {
  readonly JOSEError: ErrorClass
  readonly JWTExpired: ErrorClass
  readonly JWTClaimValidationFailed: ErrorClass<ClaimFailure>
  readonly JOSEAlgNotAllowed: ErrorClass
  readonly JWKSNoMatchingKey: ErrorClass
  readonly JWKSMultipleMatchingKeys: ErrorClass
  readonly JWSSignatureVerificationFailed: ErrorClass
}

// jose is an ES module. `import()` loads it on every supported version of Node, `require` only on newer versions.
async function load(): Promise<Jose> {
  try {
    return await import('jose')
  } catch (cause) {
    throw new Error('jose cannot be loaded.', { cause })
  }
}

let loading: Promise<Jose> | undefined

/** Loads jose at the first call, once per process. */
export function loadJose(): Promise<Jose> {
  return (loading ??= load())
}

/**
 * Checks that jose is installed. Call at construction, so a missing jose does not first show at a request.
 *
 * @param asker the function that needs jose, such as `jwtBearer()`, for the message.
 * @throws ConfigurationError if jose is not installed.
 */
export function requireJose(asker: string): void {
  optionalPackage('jose', findJose, {
    subject: `${asker} cannot verify signatures:`,
    cure: 'run "npm install jose"',
  })
}

// Inside a bundle there is nothing to resolve: the package is found by its `require` alone.
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
