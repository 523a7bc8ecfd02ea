import { checkedAddresses, lookupInDns } from '../../lib/document-fetch/checked-addresses'
import { dnsServer } from '../support/dns-server'

type Zone = Readonly<Record<string, readonly string[] | 'silence'>>

/** What a server that asks for a name in DNS may connect to, or the reason why it may not. */
async function resolved(zone: Zone, hostname: string) {
  const server = await dnsServer((name, type) => {
    const exists = Object.keys(zone).some((key) => key.startsWith(`${name} `))
    return zone[`${name} ${type}`] ?? (exists ? [] : undefined)
  })
  try {
    const lookup = lookupInDns([server.address])
    const outcome = await checkedAddresses(hostname, { lookup, loopback: false }).catch(
      (error) => error.reason,
    )
    return { outcome, asked: server.asked() }
  } finally {
    await server.close()
  }
}

test.each<[title: string, zone: Zone, outcome: unknown]>([
  ['IPv4 alone', { 'a.example A': ['8.8.8.8'] }, ['8.8.8.8']],
  ['IPv6 alone', { 'a.example AAAA': ['2600::1'] }, ['2600::1']],
  ['both', { 'a.example A': ['8.8.8.8'], 'a.example AAAA': ['2600::1'] }, ['8.8.8.8', '2600::1']],
  [
    'many of both',
    { 'a.example A': ['8.8.8.1', '8.8.8.2', '8.8.8.3'], 'a.example AAAA': ['2600::1', '2600::2', '2600::3'] },
    ['8.8.8.1', '8.8.8.2', '2600::1', '2600::2'],
  ],
  [
    'one family that does not answer',
    { 'a.example A': ['8.8.8.8'], 'a.example AAAA': 'silence' },
    ['8.8.8.8'],
  ],
  [
    'an inner one of the other family',
    { 'a.example A': ['8.8.8.8'], 'a.example AAAA': ['::1'] },
    'address_forbidden',
  ],
  [
    'an inner one behind two others',
    { 'a.example A': ['8.8.8.1', '8.8.8.2', '10.0.0.1'] },
    'address_forbidden',
  ],
  ['a mapped one', { 'a.example AAAA': ['::ffff:8.8.8.8'] }, 'address_forbidden'],
  ['none', { 'a.example MX': [] }, 'unresolved'],
  ['no such name', {}, 'unresolved'],
])('the addresses of a name in DNS: %s', async (_, zone, outcome) => {
  expect((await resolved(zone, 'a.example')).outcome).toEqual(outcome)
})

test('the server asks DNS once for each family, and never with a suffix of this machine', async () => {
  const { asked } = await resolved({ 'intranet A': ['8.8.8.8'] }, 'intranet')
  expect(asked.toSorted()).toEqual(['intranet A', 'intranet AAAA'])
})

test.each(['localhost', 'a.localhost', '127.0.0.1', '::1'])(
  'the server does not ask DNS for %s',
  async (hostname) => {
    const zone = { [`${hostname} A`]: ['8.8.8.8'] }
    expect(await resolved(zone, hostname)).toEqual({ outcome: 'address_forbidden', asked: [] })
  },
)
