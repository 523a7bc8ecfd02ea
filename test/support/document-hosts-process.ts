import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { authority, httpsOrigin } from './https-origin'
import type { DocumentHosts, HostsPlan } from './start-document-hosts'

/**
 * Starts DNS on UDP (RFC 1035 4), and resolves to its address: every name has 127.0.0.1, and no address of IPv6. Names in
 * `silent.example` get no answer.
 */
async function startDns(): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    if (labels.join('.').toLowerCase().endsWith('.silent.example')) return
    const records = query.readUInt16BE(at + 1) === 1 ? [loopback] : []
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(records.length, 6)
    head.writeUInt32BE(0, 8)
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...records]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}

const loopback = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1])

/** Documents and keys: those of the clients at the host of all, and good ones at every host of the attacker. */
const answerWith =
  ({ redirectUri, jwks }: HostsPlan): RequestListener =>
  ({ url = '', headers: { host = '' } }, response) => {
    const isGood = /^\/(?:keys|client)\d*\.json$/.test(url)
    const document = {
      client_id: `https://${host}${url}`,
      client_name: 'Notes',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
    }
    response.writeHead(isGood ? 200 : 404, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(url.startsWith('/keys') ? jwks : document))
  }

/** DNS and the https origin as a program. It tells where they are, and ends when its parent is gone. */
async function serve(plan: HostsPlan): Promise<void> {
  const dns = await startDns()
  const origin = await httpsOrigin(authority.issue(plan.names), answerWith(plan))
  const hosts: DocumentHosts = { dns, port: origin.port, ca: authority.ca }
  process.stdin.resume().on('close', () => process.exit())
  process.stdout.write(`${JSON.stringify(hosts)}\n`)
}

void serve(JSON.parse(process.argv[2] ?? '{}'))
