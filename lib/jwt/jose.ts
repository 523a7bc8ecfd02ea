import type { webcrypto } from 'node:crypto'
import { optionalPackage } from '../protocol/configuration'
import type { PublicKey } from './public-keys'

/**
 * What the suite uses of jose, the library that verifies signatures. These types are the suite's own, because jose is
 * an optional peer: the published types must not import a package that an application does not have.
 */
export interface Jose {
  /** @throws when the text is no JWT. */
  decodeProtectedHeader(token: string): UnprovenHeader
  /** @throws when the text is no JWT. */
  decodeJwt(token: string): { readonly iss?: unknown }
  createLocalJWKSet(set: { keys: PublicKey[] }): KeyLookup
  /** @throws JOSEError when the JWT is not signed by the key, or claims something else than is expected. */
  jwtVerify(token: string, key: VerificationKey, expected: ExpectedClaims): Promise<VerifiedJwt>
  readonly errors: JoseErrors
}

/** The header of a JWT, before anything about it is proven: what its members hold is checked before it is used. */
export interface UnprovenHeader {
  alg?: string
  typ?: string
  crit?: string[]
  b64?: boolean
  [name: string]: unknown
}

/** A header that names its algorithm. */
export interface Header extends UnprovenHeader {
  alg: string
}

/** Finds the key of a set for a header, by `alg` and `kid`. @throws JOSEError when not exactly one fits. */
export type KeyLookup = (header?: Header) => Promise<VerificationKey>

export type VerificationKey = webcrypto.CryptoKey

interface ExpectedClaims {
  issuer: string
  audience: string[]
  algorithms: string[]
  /** Seconds. */
  clockTolerance: number
  currentDate: Date
}

interface VerifiedJwt {
  readonly payload: Readonly<Record<string, unknown>>
}

type ErrorClass<Instance = Error> = abstract new (...parameters: never[]) => Instance

interface JoseErrors {
  readonly JOSEError: ErrorClass
  readonly JWTExpired: ErrorClass
  readonly JWTClaimValidationFailed: ErrorClass<Error & { readonly claim: string; readonly reason: string }>
  readonly JOSEAlgNotAllowed: ErrorClass
  readonly JWKSNoMatchingKey: ErrorClass
  readonly JWKSMultipleMatchingKeys: ErrorClass
  readonly JWSSignatureVerificationFailed: ErrorClass
}

// jose is an ES module: `import()` takes it in on every Node that the suite runs on, `require` only on later ones.
const load = (): Promise<Jose> => import('jose')

let loading: Promise<Jose> | undefined

/** Loads jose at its first use, once for the process. */
export function loadJose(): Promise<Jose> {
  return (loading ??= load())
}

/**
 * Says at construction, not at the first request, that jose is missing.
 *
 * @param asker what cannot work without it, such as `jwtBearer()`.
 * @throws ConfigurationError
 */
export function requireJose(asker: string): void {
  optionalPackage('jose', () => require.resolve('jose'), {
    subject: `${asker} cannot verify signatures:`,
    cure: 'run "npm install jose"',
  })
}
