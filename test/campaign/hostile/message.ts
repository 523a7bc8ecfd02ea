/** Name and value as they stand on the wire, in texts of which each character is one byte. */
export type Pair = readonly [name: string, value: string]

/** A request in parts that can be bent by themselves. */
export interface Message {
  readonly method: string
  readonly path: string
  readonly query: readonly Pair[]
  readonly headers: readonly Pair[]
  /** The fields of a form, or a body that is none any more. */
  readonly body: readonly Pair[] | string
}

/** Form encoding of fields, each still by itself. */
export function encodedPairs(fields: Readonly<Record<string, string | undefined>>): readonly Pair[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[formEncode(name), formEncode(value)] as const],
  )
}

export const formEncode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

/** The pairs of a query or a form as one text. A name that lost its value has no equals sign. */
export const joined = (pairs: readonly Pair[]): string =>
  pairs.map(([name, value]) => (value === '' ? name : `${name}=${value}`)).join('&')

export const bodyOf = ({ body }: Message): string => (typeof body === 'string' ? body : joined(body))

export const targetOf = ({ path, query }: Message): string =>
  query.length === 0 ? path : `${path}?${joined(query)}`

/** The request as bytes. What frames it is always right: `sockets.ts` is about that. */
export function bytesOf(message: Message): Buffer {
  const body = bodyOf(message)
  const head = [
    `${message.method} ${targetOf(message)} HTTP/1.1`,
    'Connection: close',
    ...(body === '' && message.method === 'GET' ? [] : [`Content-Length: ${body.length}`]),
    ...message.headers.map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1')
}

/** The values of a header, whatever the case of its name; what stands behind a line break is another header. */
export const headersNamed = ({ headers }: Message, name: string): readonly string[] =>
  headers
    .filter(([given]) => given.toLowerCase() === name)
    .map(([, value]) => (value.split(/\r?\n/, 1)[0] ?? '').trim())
