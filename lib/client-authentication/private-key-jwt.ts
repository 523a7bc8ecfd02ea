import { aFlag, someSeconds } from '../primitives/fields'
import { type Fields, optional, type Read, readOptions } from '../primitives/schema'
import { aDocumentFetch, type DocumentFetch } from '../clients/document-fetch/document-fetch'
import type { KeySource } from '../jwt/key-source'
import { longestRepeatable, type PlainIssuer, plainIssuers } from '../jwt/trusted-issuers'
import { decodedClaims, DecoyKeys, verifiedAlgorithms, verifyJwt } from '../jwt/verify-jwt'
import { privateKeyJwtName } from '../protocol/client'
import { isRecord, isText } from '../primitives/values'
import { digest } from '../protocol/credential'
import { dataOf } from '../protocol/extension-data'
import { OAuthError } from '../protocol/oauth-error'
import type { Json } from '../protocol/json'
import { refused } from '../protocol/refusals'
import { isTooLong } from '../protocol/parameters'
import type { SingleUse } from '../protocol/single-use'
import { ClientKeys, mistakeInKeys } from './client-keys'
import type {
  AuthenticatingServer,
  ClientAuthenticationMethod,
  CredentialSources,
  PresentedCredential,
} from './method'

export interface PrivateKeyJwtOptions {
  /**
   * Whether `aud` may also be the URL of the token endpoint, or of the endpoint that the client calls (RFC 9126 2), for
   * clients from before the change of RFC 7523. Another party's server that names this URL as its own can then use the
   * assertion. Default `false`.
   */
  readonly tokenEndpointAudience?: boolean
  /**
   * The accepted signature algorithms (RFC 7518 3.1, RFC 8037 3.1), a part of the default: RS256, RS384, RS512, PS256,
   * PS384, PS512, ES256, ES384, ES512, EdDSA and Ed25519.
   */
  readonly algorithms?: readonly string[]
  /** The tolerated difference between clocks, in whole seconds, 0 to 300. Default 30. */
  readonly clockTolerance?: number
  /**
   * The longest time from now to an assertion's end, in whole seconds, 1 to 86 400, besides `clockTolerance`. Default
   * 300. The server remembers each used assertion for as long.
   */
  readonly maximumLifetime?: number
  /**
   * Fetches the JWK sets at `jwks_uri`, for example through a proxy. Default: over https, at most 64 KiB, and never
   * from inside your network. A set has at most 32 keys, and is cached for one minute to one day, by the response
   * headers. An unknown `kid` causes another fetch, at most once in 10 seconds. If a limit or silence prevents a fetch,
   * the last keys prove the client for an hour from theirs.
   */
  readonly documents?: DocumentFetch
  /**
   * Platforms, such as Kubernetes, whose tokens authenticate the programs that they run. The registration names `iss`
   * and `sub` of its tokens: `credentials: { private_key_jwt: { issuer, subject } }`. Default none.
   */
  readonly issuers?: readonly PlainIssuer[]
}

/**
 * The method `private_key_jwt` (RFC 7523 2.2 and 3, with draft-ietf-oauth-rfc7523bis): a client signs a JWT. The
 * registration holds at most 12 public keys, `credentials: { private_key_jwt: { keys: [jwk] } }`, or their URL,
 * `{ private_key_jwt: { jwks_uri } }`. With several keys, the JWT names one by `kid`.
 *
 * The JWT has the claims `iss` and `sub`, both the `client_id`; `aud`, the issuer of this server alone; `exp` and
 * `jti`; and at most 16 KiB. It authenticates one request on all processes; a refused request does not use it up.
 *
 * With `issuers`, the JWT may be a platform's token (RFC 7523 2.2). The request names the client by `client_id`, unless
 * `sub` is the `client_id`, or the option `clients` is a list in which one registration alone has this `iss` and `sub`.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function privateKeyJwt(options: PrivateKeyJwtOptions = {}) {
  const settings = readOptions('privateKeyJwt()', fields, options)
  const clientKeys = new ClientKeys(
    ({ credentials }) => dataOf(privateKeyJwtName, credentials),
    settings.documents,
  )
  const decoys = new DecoyKeys()
  const { keys: platforms } = settings.issuers
  const method: ClientAuthenticationMethod = {
    name: privateKeyJwtName,
    signingAlgorithms: settings.algorithms,
    read: (sources) => readAssertion(sources, platforms),
    mistakeIn: (entry) => mistakeInEntry(entry, platforms),
    async verify(client, assertion, _withinLimits, server, sender) {
      const { subject = '', workload } = namedIn(assertion, platforms)
      const entry = client && dataOf(privateKeyJwtName, client.credentials)
      const keys = client && clientKeys.of(client, server, sender)
      const issuers = workload === undefined ? new Map([[subject, keys ?? ClientKeys.none]]) : platforms
      try {
        const use = await useOf(assertion, issuers, server, sender.url, settings)
        if (workload !== undefined && !namesWorkload(entry, workload))
          throw refused('client_assertion_subject_wrong')
        if (use !== undefined) sender.useLast(use)
        return true
      } catch (error) {
        if (!(error instanceof OAuthError) || error.code !== 'invalid_client') throw error
        // An unknown client, a client without keys and a wrong signature cost the same.
        if (error.reason === 'client_assertion_key_unknown') await decoys.verifyInVain(assertion)
        if (entry === undefined) return false
        throw error
      }
    },
  }
  return { name: privateKeyJwtName, clientAuthenticationMethods: [method] }
}

const fields = {
  tokenEndpointAudience: aFlag(false),
  algorithms: verifiedAlgorithms,
  clockTolerance: someSeconds(30, 0, 300),
  maximumLifetime: someSeconds(300, 1, 86_400),
  documents: optional(aDocumentFetch),
  issuers: plainIssuers('client_keys_unavailable'),
} satisfies Fields<PrivateKeyJwtOptions>

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

type Platforms = ReadonlyMap<string, unknown>

interface Workload {
  readonly issuer: string
  readonly subject: string
}

// Unproven.
function namedIn(token: string, platforms: Platforms) {
  const { iss: issuer, sub } = decodedClaims(token)
  const subject = isText(sub) ? sub : undefined
  const isOfPlatform = isText(issuer) && platforms.has(issuer) && subject !== undefined
  return { subject, workload: isOfPlatform ? { issuer, subject } : undefined }
}

// RFC 7521 4.2: without `client_id`, the subject is the client, or a registration names it.
function readAssertion(
  { body, clientWith }: CredentialSources,
  platforms: Platforms,
): PresentedCredential | undefined {
  const [type, assertion = ''] = [body.get('client_assertion_type'), body.get('client_assertion')]
  if (type === undefined && assertion === '') return undefined
  const { subject, workload } = namedIn(assertion, platforms)
  if (type !== assertionType || subject === undefined) throw refused('client_assertion_malformed')
  const named =
    workload &&
    (body.get('client_id') ?? clientWith(privateKeyJwtName, (entry) => namesWorkload(entry, workload)))
  const isLong = isTooLong('client_id', subject)
  if (isLong && workload === undefined) throw refused('client_assertion_malformed')
  // No client has this name: another answer would tell which subjects are registered.
  return { clientId: named ?? (isLong ? digest(subject) : subject), credential: assertion }
}

const namesWorkload = (entry: unknown, { issuer, subject }: Workload): boolean =>
  isRecord(entry) && entry['issuer'] === issuer && entry['subject'] === subject

function mistakeInEntry(entry: Json, platforms: Platforms): string | undefined {
  if (!isRecord(entry) || !Object.hasOwn(entry, 'issuer')) return mistakeInKeys(entry)
  const { issuer, subject, ...others } = entry
  const isOfPlatform = isText(issuer) && platforms.has(issuer)
  if (isOfPlatform && isText(subject) && Object.keys(others).length === 0) return undefined
  return 'must be { issuer, subject }: a platform of the option issuers of privateKeyJwt(), and the sub of its tokens.'
}

// draft-ietf-oauth-rfc7523bis: older clients write `JWT` or none. RFC 8725 3.11: an assertion for another purpose has
// another type.
const types = ['client-authentication+jwt', 'jwt']

// Undefined for an assertion that may come again.
async function useOf(
  assertion: string,
  issuers: ReadonlyMap<string, KeySource>,
  { issuer, tokenEndpoint, now: clock }: AuthenticatingServer,
  called: string,
  { tokenEndpointAudience, maximumLifetime, algorithms, clockTolerance, ...settings }: Read<typeof fields>,
): Promise<SingleUse | undefined> {
  const now = clock()
  const { expiresAt, claims, ...proven } = await verifyJwt(assertion, now, {
    issuers,
    audience: tokenEndpointAudience ? [issuer, tokenEndpoint, called] : [issuer],
    // draft-ietf-oauth-rfc7523bis: with several audiences, it would be good at each.
    soleAudience: true,
    algorithms,
    clockTolerance,
    types,
    isAssertion: true,
    refusal: (fault) => refused(`client_assertion_${fault === 'malformed' ? 'header_refused' : fault}`),
  })
  const isRepeatable = settings.issuers.repeatable.has(proven.issuer)
  const longest = isRepeatable ? longestRepeatable : maximumLifetime
  // The client's clock may be ahead.
  if (expiresAt > now + longest + clockTolerance) throw refused('client_assertion_too_long_lived')
  if (isRepeatable) return undefined
  const { jti } = claims
  if (!isText(jti)) throw refused('client_assertion_incomplete')
  // A process whose clock is behind accepts it for one tolerance longer.
  const seconds = Math.ceil(expiresAt + 2 * clockTolerance - now)
  const key = `${privateKeyJwtName}:${digest(JSON.stringify([proven.issuer, jti]))}`
  return { key, seconds, refusal: () => refused('client_assertion_replayed') }
}
