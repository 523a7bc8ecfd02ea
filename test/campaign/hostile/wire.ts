import { get } from 'node:http'
import { connect } from 'node:net'
import type { Pair } from './message'

/** What came back over one connection; a request without an answer has the status 0. */
export interface Answer {
  readonly status: number
  readonly headers: readonly Pair[]
  readonly body: string
  readonly ended: 'closed' | 'reset' | 'hung'
}

// Milliseconds after which an answer is overdue.
const patience = 5000
// A busy machine makes every answer late. One that hangs is passed by so many that were asked for after it was overdue.
const overtaking = 20
// Milliseconds after which a server that answers nothing at all stands still.
const standstill = 30_000

/**
 * Sends bytes over a connection of their own and reads until it is closed, or until the answer is overdue although the
 * server answers others. Rejects when it answers nothing at all.
 */
export function converse(port: number, bytes: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const end = (ended: Answer['ended']) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answerOf(Buffer.concat(chunks), ended))
    }
    const timer = setTimeout(() => void overtaken(port).then(() => end('hung'), reject), patience)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', () => end('closed'))
    socket.on('close', () => end('closed'))
    // After a refusal the server does not read on, and what was sent in vain is answered by a reset.
    socket.on('error', () => end('reset'))
    socket.write(bytes)
  })
}

/** Resolves when the server has given so many other answers one after the other. */
async function overtaken(port: number): Promise<void> {
  for (let answers = 0; answers < overtaking; answers++)
    if (!(await isAnswered(port))) throw new Error('The server stands still, or has ended.')
}

function isAnswered(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const where = { port, host: '127.0.0.1', path: '/nowhere', agent: false, timeout: standstill }
    const asked = get(where, (answer) => answer.resume().once('close', () => resolve(true)))
    asked.once('timeout', () => asked.destroy()).once('error', () => resolve(false))
  })
}

/** Reads one answer, of which each character is one byte. */
export function answerOf(bytes: Buffer, ended: Answer['ended']): Answer {
  const text = bytes.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  const [, status = '0'] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? []
  if (end < 0) return { status: 0, headers: [], body: '', ended }
  const lines = text.slice(0, end).split('\r\n').slice(1)
  const headers = lines.map((line): Pair => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status: Number(status), headers, body: text.slice(end + 4), ended }
}

export const headerOf = ({ headers }: Answer, name: string): string | undefined =>
  headers.find(([given]) => given === name)?.[1]
