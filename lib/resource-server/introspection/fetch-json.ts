import { boundedText, isRecord, isText } from '../../primitives/values'
import { isShallow } from '../../protocol/json'

/** No JSON, or another status than 200. */
export class UnusableResponse extends Error {
  override readonly name: string = 'UnusableResponse'
}

export class RefusedStatus extends UnusableResponse {
  override readonly name = 'RefusedStatus'

  /** @param error the code of a response with status 400 (RFC 6749 5.2). */
  constructor(
    url: string,
    readonly status: number,
    readonly error: string | undefined,
  ) {
    super(`${url} responded with status ${status}.`)
  }
}

interface JsonRequest {
  readonly signal: AbortSignal
  readonly method?: 'POST'
  readonly body?: URLSearchParams
  readonly headers?: Readonly<Record<string, string>>
}

// Bytes, after decompression: enough for one token, or metadata.
const longestAnswer = 256 * 1024

export async function fetchJson(url: string, { headers, ...request }: JsonRequest): Promise<unknown> {
  const response = await fetch(url, {
    ...request,
    headers: { Accept: 'application/json', ...headers },
    // A redirect would carry token and secret elsewhere.
    redirect: 'error',
  })
  const { body, status } = response
  if (body !== null && isJson(response)) {
    if (status === 200) return parsed(await boundedText(body, longestAnswer, url), url)
    if (status === 400) throw new RefusedStatus(url, status, await errorIn(body, url))
  }
  await body?.cancel()
  if (status !== 200) throw new RefusedStatus(url, status, undefined)
  throw new UnusableResponse(`${url} responded with another type than JSON.`)
}

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
