/** One keep-alive connection of the generator. `text` is a whole HTTP/1.1 request as it goes over the wire. */
export interface Connection {
  ask(text: string): Promise<Answer>
}

export interface Answer {
  readonly status: number
  /** The status line and the headers, raw. */
  readonly head: string
  readonly body: string
}

/** Prepares one connection and returns the operation that is repeated on it; the operation throws when an answer is wrong. */
export type Story = (connection: Connection) => Promise<() => Promise<void>>

export const workloads = [
  'clientCredentials',
  'codeFlow',
  'codeFlowWithPage',
  'refresh',
  'guard',
  'guardJwt',
  'introspection',
  'bareRoute',
  'application',
] as const

export type Workload = (typeof workloads)[number]

/** What one server can do; a workload that it lacks is absent. */
export type Stories = Partial<Record<Workload, Story>>

export type Fields = Readonly<Record<string, string>>

export function get(path: string, headers: Fields = {}): string {
  return request('GET', path, headers)
}

export function formPost(path: string, fields: Fields, headers: Fields = {}): string {
  const body = new URLSearchParams(fields).toString()
  const form = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': `${Buffer.byteLength(body)}`,
  }
  return request('POST', path, { ...form, ...headers }) + body
}

function request(method: string, path: string, headers: Fields): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n${lines.join('')}\r\n`
}

/** The first header of that name; the name in lower case. */
export function headerOf(answer: Answer, name: string): string | undefined {
  return headersOf(answer, name)[0]
}

export function headersOf(answer: Answer, name: string): readonly string[] {
  return answer.head
    .split('\r\n')
    .filter((line) => line.slice(0, name.length + 1).toLowerCase() === `${name}:`)
    .map((line) => line.slice(name.length + 1).trim())
}

export function jsonOf(answer: Answer): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(answer.body)
  if (typeof value !== 'object' || value === null) throw wrong(answer)
  return { ...value }
}

export function wrong(answer: Answer): Error {
  return new Error(`Wrong answer: ${answer.head}\r\n\r\n${answer.body.slice(0, 500)}`)
}
