import { isRecord, isText, isTexts } from '../../primitives/values'
import { SingleFlight } from '../../primitives/concurrency'
import { isSafeUrl } from '../../protocol/uri'
import { fetchJson, RefusedStatus, UnusableResponse } from './fetch-json'
import type { Authenticate } from './introspection-client'

interface IntrospectionAddress {
  readonly issuer: string
  /** Undefined: by the metadata of the issuer. */
  readonly endpoint: string | undefined
  readonly authenticate: Authenticate
  /** Milliseconds. */
  readonly patience: number
  /** Milliseconds of a clock that does not step. */
  readonly clock: () => number
}

export class CredentialsRefused extends Error {
  override readonly name = 'CredentialsRefused'
}

/** The credentials are good, so the endpoint may answer about other tokens. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
}

/** Perhaps from a filter before the endpoint. */
export class NothingSaid extends Error {
  override readonly name = 'NothingSaid'
}

interface FoundEndpoint {
  readonly url: string
  /** Undefined if the metadata name none. */
  readonly offered: readonly string[] | undefined
}

// Milliseconds: metadata are read again at this age, and after a failure, but not twice within the pause.
const [maximumAge, pause] = [600_000, 10_000]

/** RFC 7662 2. A server may move the endpoint. */
export class IntrospectionEndpoint {
  private found: FoundEndpoint | undefined
  private lookedAt = 0
  private readonly lookUps = new SingleFlight<FoundEndpoint>()

  constructor(private readonly address: IntrospectionAddress) {
    const { endpoint } = address
    if (endpoint !== undefined) this.found = { url: endpoint, offered: undefined }
  }

  async find(): Promise<FoundEndpoint> {
    if (this.found === undefined) return this.lookUp()
    this.lookAgain(maximumAge)
    return this.found
  }

  /** RFC 7662 2.1 */
  async ask(token: string): Promise<unknown> {
    const { url, offered } = await this.find()
    const { headers, parameters } = await this.address.authenticate(offered)
    const body = new URLSearchParams({ token, token_type_hint: 'access_token', ...parameters })
    try {
      return await fetchJson(url, { method: 'POST', body, headers, signal: this.deadline() })
    } catch (error) {
      if (error instanceof RefusedStatus && error.status === 400) return answerOf(error)
      this.lookAgain(pause)
      if (!(error instanceof UnusableResponse)) throw error
      // RFC 7662 2.3: 401. A proxy in front says 403.
      throw error instanceof RefusedStatus && [401, 403].includes(error.status)
        ? new CredentialsRefused(error.message)
        : new NothingSaid(error.message)
    }
  }

  private deadline(): AbortSignal {
    return AbortSignal.timeout(this.address.patience)
  }

  /** The known endpoint serves requests meanwhile. */
  private lookAgain(age: number): void {
    const { endpoint, clock } = this.address
    if (endpoint !== undefined || clock() < this.lookedAt + age) return
    // If the endpoint fails as well, its failure is reported.
    void this.lookUp().catch(() => undefined)
  }

  private lookUp(): Promise<FoundEndpoint> {
    return this.lookUps.share('', async () => {
      this.lookedAt = this.address.clock()
      this.found = await endpointOf(this.address.issuer, this.deadline())
      return this.found
    })
  }
}

/** RFC 6749 5.2: a server may refuse a client with 400. */
function answerOf({ message, error }: RefusedStatus): unknown {
  if (error === 'invalid_client' || error === 'unauthorized_client') throw new CredentialsRefused(message)
  // RFC 7009 2.2.1: some servers know JWTs only by their form. Any sender can write one, and none counts.
  if (error === 'unsupported_token_type') return { active: false }
  throw new RequestRefused(message)
}

async function endpointOf(issuer: string, signal: AbortSignal): Promise<FoundEndpoint> {
  const metadata = await metadataOf(issuer, signal)
  const url: unknown = metadata['introspection_endpoint']
  if (!isText(url) || !isSafeUrl(url))
    throw new Error(`The metadata of ${issuer} name no introspection_endpoint with https.`)
  const methods: unknown = metadata['introspection_endpoint_auth_methods_supported']
  return { url, offered: isTexts(methods) ? methods : undefined }
}

/** RFC 8414 3.1, and OpenID Connect Discovery 4, the only place of many servers. */
async function metadataOf(issuer: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  try {
    return await metadataAt(`${origin}/.well-known/oauth-authorization-server${path}`, issuer, signal)
  } catch (failure) {
    return metadataAt(`${origin}${path}/.well-known/openid-configuration`, issuer, signal).catch(() => {
      throw failure
    })
  }
}

async function metadataAt(url: string, issuer: string, signal: AbortSignal) {
  const metadata = await fetchJson(url, { signal })
  if (isRecord(metadata) && metadata['issuer'] === issuer) return metadata
  // RFC 8414 3.3: else another server could take the place of the issuer.
  throw new Error(`The metadata of ${issuer} are those of another issuer.`)
}
