import { connect, type Socket } from 'node:net'
import type { Answer, Connection } from './story'

/** One request at a time over one socket; reads bodies of a known length and chunked ones. */
export async function openConnection(port: number): Promise<Connection & { close(): void }> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return { ask: (text) => ask(socket, text), close: () => socket.destroy() }
}

function ask(socket: Socket, text: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let received = ''
    const settle = (act: () => void) => {
      socket.off('data', read).off('close', fail)
      act()
    }
    const read = (data: Buffer) => {
      received += data.toString('latin1')
      const answer = parse(received)
      if (answer) settle(() => resolve(answer))
    }
    const fail = () => settle(() => reject(new Error(`The connection was closed after: ${received}`)))
    socket.on('data', read).on('close', fail).write(text)
  })
}

/** Nothing while the answer is not complete. */
function parse(text: string): Answer | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const body = bodyOf(head, text.slice(end + 4))
  return body === undefined ? undefined : { status: Number(head.slice(9, 12)), head, body }
}

function bodyOf(head: string, rest: string): string | undefined {
  if (/^transfer-encoding: *chunked/im.test(head)) return unchunked(rest)
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  return rest.length < length ? undefined : rest.slice(0, length)
}

function unchunked(rest: string): string | undefined {
  if (!rest.endsWith('0\r\n\r\n')) return undefined
  let body = ''
  for (let at = 0; ;) {
    const line = rest.indexOf('\r\n', at)
    const size = Number.parseInt(rest.slice(at, line), 16)
    if (size === 0) return body
    body += rest.slice(line + 2, line + 2 + size)
    at = line + 2 + size + 2
  }
}
