import { createServer, type RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { listening } from '../listening'
import { waitUntil, within } from '../wait-until'

/** Serves the application for as long as `use` takes, to be spoken to byte by byte. */
export async function onTheWire<Result>(
  app: RequestListener,
  use: (open: () => Socket) => Promise<Result>,
): Promise<Result> {
  const { port, close } = await listening(createServer(app))
  const sockets: Socket[] = []
  const open = () => {
    const socket = connect(port, '127.0.0.1')
    // A server that has heard enough may hang up on a client that still speaks.
    socket.on('error', () => undefined)
    sockets.push(socket)
    return socket
  }
  try {
    return await use(open)
  } finally {
    for (const socket of sockets) socket.destroy()
    await close()
  }
}

/** Sends the bytes, each part when the one before has gone out, and reads the answer up to its end or the deadline. */
export async function exchangeBytes(
  socket: Socket,
  parts: readonly (string | Buffer)[],
  milliseconds = 60_000,
): Promise<string> {
  const answer: Buffer[] = []
  socket.on('data', (bytes: Buffer) => answer.push(bytes))
  for (const part of parts)
    await within('a part has gone out', new Promise((resolve) => socket.write(part, resolve)))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, milliseconds).unref())])
  return Buffer.concat(answer).toString()
}

/** A request head for a form, whose connection ends with the answer. */
export function formHead(path: string, ...headers: readonly string[]): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    'Content-Type: application/x-www-form-urlencoded',
    ...headers,
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** One chunk of a body in chunked transfer coding: arrives as one piece, whatever the network does. */
export function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

/** Begins a request, waits until the application has it, and hangs up. */
export async function beginAndHangUp(socket: Socket, part: string, arrived: () => boolean): Promise<void> {
  socket.write(part)
  await waitUntil('the request has arrived', async () => arrived())
  socket.destroy()
}
