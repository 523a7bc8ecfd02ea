import { boundedText, isRecord, isText, isTexts } from '../../primitives/values'
import { SingleFlight } from '../../primitives/concurrency'
import { isShallow } from '../../protocol/json'
import { isSafeUrl } from '../../protocol/uri'
import type { SourceTerms } from '../token-claims'
import type { Authenticate } from './introspection-client'

export class UnusableResponse extends Error {
  override readonly name = 'UnusableResponse'

  /** @param error RFC 6749 5.2. */
  constructor(
    message: string,
    private readonly status?: number,
    readonly error?: string,
  ) {
    super(message)
  }

  /**
   * What failed. With `request`, the credentials are good, so the endpoint may answer about other tokens;
   * `nothing` may come from a filter before it.
   */
  get about(): 'server' | 'client' | 'request' | 'nothing' {
    const { status = 200, error = '' } = this
    if (status >= 500 || status === 429) return 'server'
    // RFC 7662 2.3. A proxy in front says 403. RFC 6749 5.2: a server may refuse a client with 400.
    if (status === 401 || status === 403) return 'client'
    if (status !== 400) return 'nothing'
    return ['invalid_client', 'unauthorized_client'].includes(error) ? 'client' : 'request'
  }
}

interface FoundEndpoint {
  readonly url: string
  readonly offered: readonly string[] | undefined
}

// Milliseconds. Metadata are read again at this age, and after a failure, but not within the pause.
const [maximumAge, pause] = [600_000, 10_000]

export class IntrospectionEndpoint {
  private found: FoundEndpoint | undefined
  private lookedAt = 0
  private readonly lookUps = new SingleFlight<FoundEndpoint>()

  /** @param clock milliseconds; must not step. @param patience milliseconds. */
  constructor(
    private readonly guard: SourceTerms,
    private readonly authenticate: Authenticate,
    private readonly clock: () => number,
    private readonly patience: number,
    private readonly endpoint: string | undefined,
  ) {
    if (endpoint !== undefined) this.found = { url: endpoint, offered: undefined }
  }

  async find(): Promise<FoundEndpoint> {
    if (this.found === undefined) return this.lookUp()
    this.lookAgain(maximumAge)
    return this.found
  }

  async ask(token: string): Promise<unknown> {
    const { url, offered } = await this.find()
    const { headers, parameters } = await this.authenticate(this.guard, offered)
    const body = new URLSearchParams({ token, token_type_hint: 'access_token', ...parameters })
    try {
      return await fetchJson(url, { method: 'POST', body, headers, signal: this.deadline() })
    } catch (error) {
      // RFC 7009 2.2.1: some servers know JWTs only by their form, and any sender can write one.
      if (error instanceof UnusableResponse && error.error === 'unsupported_token_type')
        return { active: false }
      if (!(error instanceof UnusableResponse) || error.about !== 'request') this.lookAgain(pause)
      throw error
    }
  }

  private deadline(): AbortSignal {
    return AbortSignal.timeout(this.patience)
  }

  private lookAgain(age: number): void {
    if (this.endpoint !== undefined || this.clock() < this.lookedAt + age) return
    // Reported if the endpoint fails as well.
    void this.lookUp().catch(() => undefined)
  }

  private lookUp(): Promise<FoundEndpoint> {
    return this.lookUps.share('', async () => {
      this.lookedAt = this.clock()
      this.found = await endpointOf(this.guard.issuer, this.deadline()).catch((cause: unknown) => {
        throw new Error('The metadata of the issuer did not come, or have no endpoint: see its cause.', {
          cause,
        })
      })
      return this.found
    })
  }
}

async function endpointOf(issuer: string, signal: AbortSignal): Promise<FoundEndpoint> {
  const metadata = await metadataOf(issuer, signal)
  const url: unknown = metadata['introspection_endpoint']
  if (!isText(url) || !isSafeUrl(url))
    throw new Error(`The metadata of ${issuer} name no introspection_endpoint with https.`)
  const methods: unknown = metadata['introspection_endpoint_auth_methods_supported']
  return { url, offered: isTexts(methods) ? methods : undefined }
}

/** RFC 8414 3.1, and OpenID Connect Discovery 4. */
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
  // RFC 8414 3.3.
  throw new Error(`The metadata of ${issuer} are those of another issuer.`)
}

type JsonRequest = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> }

// Bytes, after decompression.
const longestAnswer = 256 * 1024

async function fetchJson(url: string, { headers, ...request }: JsonRequest): Promise<unknown> {
  const response = await fetch(url, {
    ...request,
    headers: { Accept: 'application/json', ...headers },
    // A redirect would carry token and secret elsewhere.
    redirect: 'error',
  })
  const { body, status } = response
  if (body !== null && isJson(response)) {
    if (status === 200) return parsed(await boundedText(body, longestAnswer, url), url)
    if (status === 400) throw refusal(url, status, await errorIn(body, url))
  }
  await body?.cancel()
  if (status !== 200) throw refusal(url, status)
  throw new UnusableResponse(`${url} responded with another type than JSON.`)
}

const refusal = (url: string, status: number, error?: string) =>
  new UnusableResponse(`${url} responded with status ${status}.`, status, error)

const isJson = ({ headers }: Response) =>
  /^application\/(?:[\w.+-]+\+)?json\b/i.test(headers.get('Content-Type') ?? '')

async function errorIn(body: ReadableStream<Uint8Array>, url: string): Promise<string | undefined> {
  try {
    const json = parsed(await boundedText(body, longestAnswer, url), url)
    const error: unknown = isRecord(json) && Object.hasOwn(json, 'error') ? json['error'] : undefined
    return isText(error) ? error : undefined
  } catch {
    return undefined
  }
}

// No cause: the parser quotes a part of the answer.
function parsed(text: string, url: string): unknown {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new UnusableResponse(`${url} responded without JSON.`)
  }
  if (!isShallow(json)) throw new UnusableResponse(`${url} responded with more than 32 levels of JSON.`)
  return json
}
