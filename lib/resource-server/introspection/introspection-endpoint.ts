import { boundedText } from '../../primitives/bounded-text'
import { isRecord, isText, isTexts } from '../../primitives/options-reader'
import { isShallow } from '../../protocol/json-depth'
import { isSafeUrl } from '../../protocol/uri'

/** How the guard authenticates at the introspection endpoint (RFC 6749 2.3.1). */
export interface IntrospectionClient {
  readonly client_id: string
  readonly client_secret: string
  /** Default: `client_secret_basic`, unless the metadata of the server name only the other one. */
  readonly method?: 'client_secret_basic' | 'client_secret_post' | undefined
}

/** Where the guard asks. */
interface IntrospectionAddress {
  readonly issuer: string
  /** The URL of the endpoint; undefined to find it in the metadata of the issuer (RFC 8414). */
  readonly endpoint: string | undefined
  readonly client: IntrospectionClient
  /** Milliseconds that one call may take. */
  readonly patience: number
}

/** The endpoint refuses the credentials of the guard, so it says nothing about the token. */
export class CredentialsRefused extends Error {
  override readonly name = 'CredentialsRefused'
}

// An answer holds one token, and metadata are short.
const longestAnswer = 256 * 1024

interface FoundEndpoint {
  readonly url: string
  readonly method: 'client_secret_basic' | 'client_secret_post'
}

/** The introspection endpoint of one issuer (RFC 7662 2). Follows no redirect, and reads at most 256 KiB. */
export class IntrospectionEndpoint {
  private found: FoundEndpoint | undefined

  constructor(private readonly address: IntrospectionAddress) {}

  /** Finds the endpoint, unless it is known. @throws Error if the server does not name one. */
  async find(): Promise<FoundEndpoint> {
    this.found ??= await this.lookUp()
    return this.found
  }

  /**
   * Asks about a token (RFC 7662 2.1). Resolves to the JSON of the answer.
   *
   * @throws CredentialsRefused if the guard is not authorized.
   * @throws Error if there is no answer.
   */
  async ask(token: string): Promise<unknown> {
    const { url, method } = await this.find()
    const { client_id, client_secret } = this.address.client
    const isBasic = method === 'client_secret_basic'
    const form = { token, token_type_hint: 'access_token', ...(isBasic ? {} : { client_id, client_secret }) }
    const headers = isBasic ? { Authorization: basic(client_id, client_secret) } : {}
    return this.fetchJson(url, { method: 'POST', body: new URLSearchParams(form) }, headers)
  }

  private async lookUp(): Promise<FoundEndpoint> {
    const { issuer, endpoint, client } = this.address
    if (endpoint !== undefined) return { url: endpoint, method: client.method ?? 'client_secret_basic' }
    const metadata = await this.fetchJson(serverMetadataUrlOf(issuer))
    // RFC 8414 3.3: otherwise another server could take the place of the issuer.
    if (!isRecord(metadata) || metadata['issuer'] !== issuer)
      throw new Error(`The metadata of ${issuer} are those of another issuer.`)
    const url: unknown = metadata['introspection_endpoint']
    if (!isText(url) || !isSafeUrl(url))
      throw new Error(`The metadata of ${issuer} name no introspection_endpoint with https.`)
    const methods: unknown = metadata['introspection_endpoint_auth_methods_supported']
    const hasBasic = !isTexts(methods) || methods.includes('client_secret_basic')
    return { url, method: client.method ?? (hasBasic ? 'client_secret_basic' : 'client_secret_post') }
  }

  private async fetchJson(
    url: string,
    request: RequestInit = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    const response = await fetch(url, {
      ...request,
      headers: { Accept: 'application/json', ...headers },
      // The host trusts this URL only: a redirect would carry token and secret elsewhere.
      redirect: 'error',
      signal: AbortSignal.timeout(this.address.patience),
    })
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel()
      // RFC 7662 2.3: 401, and RFC 6749 5.2 lets a server answer 400. A proxy in front says 403.
      if ([400, 401, 403].includes(response.status))
        throw new CredentialsRefused(`${url} refused the guard with status ${response.status}.`)
      throw new Error(`${url} responded with status ${response.status}.`)
    }
    if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(response.headers.get('Content-Type') ?? '')) {
      await response.body.cancel()
      throw new Error(`${url} responded with another type than JSON.`)
    }
    return jsonOf(await boundedText(response.body, longestAnswer, url), url)
  }
}

// The message of the parser contains a part of the answer, so the error has no cause.
function jsonOf(text: string, url: string): unknown {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new Error(`${url} responded without JSON.`)
  }
  if (!isShallow(json)) throw new Error(`${url} responded with more than 32 levels of JSON.`)
  return json
}

/** RFC 6749 2.3.1: both parts are form-encoded before RFC 7617 encodes them. */
function basic(clientId: string, clientSecret: string): string {
  const [id, secret] = [clientId, clientSecret].map((text) =>
    new URLSearchParams([['', text]]).toString().slice(1),
  )
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
}

/** RFC 8414 3.1: the well-known part stands between the host and the path of the issuer. */
function serverMetadataUrlOf(issuer: string): string {
  const { origin, pathname } = new URL(issuer)
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`
}
