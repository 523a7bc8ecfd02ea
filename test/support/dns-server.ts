import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import { groupsOf } from '../../lib/limits/network'
import { within } from './wait-until'

const types: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' }

/**
 * A DNS server on UDP (RFC 1035 4). `answer` gives the addresses of a name and a family: none means that there are none
 * of this family, undefined that the name does not exist, and `silence` that no answer comes.
 */
export async function dnsServer(
  answer: (name: string, type: 'A' | 'AAAA') => readonly string[] | 'silence' | undefined,
) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    const type = types[query.readUInt16BE(at + 1)] ?? 'A'
    const name = labels.join('.').toLowerCase()
    asked.push(`${name} ${type}`)
    const addresses = answer(name, type)
    if (addresses === 'silence') return
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(addresses === undefined ? 0x8183 : 0x8180, 2)
    head.writeUInt16BE(addresses?.length ?? 0, 6)
    head.writeUInt32BE(0, 8)
    socket.send(
      Buffer.concat([head, query.subarray(12, at + 5), ...(addresses ?? []).map(recordOf)]),
      from.port,
      from.address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked: (): readonly string[] => asked,
    close: () =>
      within('the DNS server is closed', new Promise<void>((resolve) => socket.close(() => resolve()))),
  }
}

function recordOf(address: string): Buffer {
  const bytes = isIPv4(address)
    ? address.split('.').map(Number)
    : groupsOf(address).flatMap((group) => [group >> 8, group & 255])
  const type = isIPv4(address) ? 1 : 28
  return Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
}
