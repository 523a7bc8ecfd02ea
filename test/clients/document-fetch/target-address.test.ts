import {
  isLoopbackAddress,
  isPublicAddress,
  lookupInDns,
  TargetAddresses,
} from '../../../lib/clients/document-fetch/target-address'
import { dnsServer } from '../../support/dns-server'
import { waitUntil } from '../../support/wait-until'

type Zone = Readonly<Record<string, readonly string[] | 'silence'>>

/** What a server that asks for a name in DNS may connect to, or the reason why it may not. */
async function resolved(zone: Zone, hostname: string) {
  const server = await dnsServer((name, type) => {
    const exists = Object.keys(zone).some((key) => key.startsWith(`${name} `))
    return zone[`${name} ${type}`] ?? (exists ? [] : undefined)
  })
  try {
    const addresses = new TargetAddresses(lookupInDns([server.address]), false)
    const { signal } = new AbortController()
    const outcome = await addresses.find(hostname, 'named', signal).catch((error) => error.reason)
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
  [
    'none of either, without an answer',
    { 'a.example A': 'silence', 'a.example AAAA': 'silence' },
    'dns_silent',
  ],
  [
    'none of one, and no answer for the other',
    { 'a.example A': [], 'a.example AAAA': 'silence' },
    'dns_silent',
  ],
  ['none', { 'a.example MX': [] }, 'unresolved'],
  ['no such name', {}, 'unresolved'],
])('the addresses of a name in DNS: %s', async (_, zone, outcome) => {
  expect((await resolved(zone, 'a.example')).outcome).toEqual(outcome)
})

test('the server asks DNS once for each family, and never with a suffix of this machine', async () => {
  const { asked } = await resolved({ 'intranet A': ['8.8.8.8'] }, 'intranet')
  expect(asked.toSorted()).toEqual(['intranet A', 'intranet AAAA'])
})

test('a look-up in DNS ends when it is aborted', async () => {
  const server = await dnsServer(() => 'silence')
  const deadline = new AbortController()
  const lookup = lookupInDns([server.address])
  const outcome = lookup('a.example', { all: true, signal: deadline.signal }).catch((error: unknown) => error)
  await waitUntil('DNS is asked for both families', async () => server.asked().length === 2)
  deadline.abort()
  expect(await outcome).toMatchObject({ code: 'ECANCELLED' })
  await server.close()
})

test('several DNS servers that answer for one family only leave time before the deadline of a fetch', async () => {
  const answer = (_: string, type: string) => (type === 'A' ? ['8.8.8.8'] : 'silence')
  const servers = [await dnsServer(answer), await dnsServer(answer), await dnsServer(answer)]
  const lookup = lookupInDns(servers.map(({ address }) => address))
  const addresses = new TargetAddresses(lookup, false)
  const deadline = AbortSignal.timeout(2000)
  const found = await addresses.find('a.example', 'named', deadline).catch(() => 'too late')
  for (const server of servers) await server.close()
  expect(found).toEqual(['8.8.8.8'])
})

test.each(['localhost', 'a.localhost', '127.0.0.1', '::1'])(
  'the server does not ask DNS for %s',
  async (hostname) => {
    const zone = { [`${hostname} A`]: ['8.8.8.8'] }
    expect(await resolved(zone, hostname)).toEqual({ outcome: 'address_forbidden', asked: [] })
  },
)

// Each range with its first and its last address, and the neighbours that are public.
const ranges: readonly (readonly [
  name: string,
  first: string,
  last: string,
  neighbours: readonly string[],
])[] = [
  ['this network', '0.0.0.0', '0.255.255.255', ['1.0.0.0']],
  ['private use, 10/8', '10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
  ['loopback', '127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
  ['link-local', '169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
  ['private use, 172.16/12', '172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
  ['IETF protocol assignments', '192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
  ['documentation 1', '192.0.2.0', '192.0.2.255', ['192.0.1.255', '192.0.3.0']],
  ['AS112', '192.31.196.0', '192.31.196.255', ['192.31.195.255', '192.31.197.0']],
  ['AMT', '192.52.193.0', '192.52.193.255', ['192.52.192.255', '192.52.194.0']],
  ['relays of 6to4', '192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
  ['private use, 192.168/16', '192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
  ['direct delegation of AS112', '192.175.48.0', '192.175.48.255', ['192.175.47.255', '192.175.49.0']],
  ['benchmarking', '198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
  ['documentation 2', '198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
  ['documentation 3', '203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
  ['multicast and reserved', '224.0.0.0', '255.255.255.255', ['223.255.255.255']],
  ['the inside of Azure', '168.63.129.16', '168.63.129.16', ['168.63.129.15', '168.63.129.17']],
  ['unspecified, loopback, IPv4-compatible', '::', '::ffff:ffff', []],
  ['IPv4-mapped', '::ffff:0:0', '::ffff:ffff:ffff', []],
  ['IPv4-mapped, of public addresses', '::ffff:8.8.8.8', '::ffff:1.1.1.1', []],
  ['IPv4-translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff', []],
  ['IPv4-translated, of public addresses', '::ffff:0:8.8.8.8', '::ffff:0:1.1.1.1', []],
  ['translated, of IPv4 this network', '64:ff9b::', '64:ff9b::ff:ffff', ['64:ff9b::100:0']],
  ['translated, of private use', '64:ff9b::10.0.0.0', '64:ff9b::10.255.255.255', ['64:ff9b::11.0.0.0']],
  ['translated, of loopback', '64:ff9b::127.0.0.1', '64:ff9b::7fff:ffff', ['64:ff9b::8.8.8.8']],
  ['translated, of link-local', '64:ff9b::169.254.169.254', '64:ff9b::a9fe:ffff', []],
  ['beside the translated', '64:ff9b:0:0:0:1::', '64:ff9b:0:ffff:ffff:ffff:ffff:ffff', []],
  ['local translation', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', []],
  ['discard only', '100::', '100::ffff:ffff:ffff:ffff', []],
  ['unassigned below 2000::/3', '100:0:0:1::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['2000::']],
  ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', ['2000:ffff::']],
  ['benchmarking, AMT, ORCHID', '2001:2::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:200::']],
  ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:db7::', '2001:db9::']],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['2003::']],
  ['6to4, of a public address', '2002:808:808::', '2002:808:808::1', []],
  ['AS112', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', ['2620:4f:7fff::', '2620:4f:8001::']],
  ['new documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', ['3ffe::', '3fff:1000::']],
  ['ISATAP, of private use', '2600::5efe:10.0.0.1', '2600::200:5efe:192.168.0.1', ['2600::5efe:8.8.8.8']],
  ['unassigned from 4000::', '4000::', '5eff::', []],
  ['SRv6 identifiers', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['the metadata of Amazon', 'fd00:ec2::254', 'fd00:ec2::254', []],
  ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
]

test.each(ranges)('%s (%s to %s) is not public, and its neighbours are', (_, first, last, neighbours) => {
  expect([first, last].filter(isPublicAddress)).toEqual([])
  expect(neighbours.filter((address) => !isPublicAddress(address))).toEqual([])
})

test.each([
  '',
  'localhost',
  '127.1',
  '0x7f.0.0.1',
  '010.0.0.1',
  '2130706433',
  '8.8.8.8:53',
  ' 8.8.8.8',
  '8.8.8.8%eth0',
  '2600::1%eth0',
  'fe80::1%1',
  '[2600::1]',
  '2600::1/64',
])('a text that is no usual address is neither public nor loopback: %j', (text) => {
  expect([isPublicAddress(text), isLoopbackAddress(text)]).toEqual([false, false])
})

test.each([
  ['127.0.0.1', true],
  ['127.255.255.254', true],
  ['::1', true],
  ['0:0:0:0:0:0:0:1', true],
  ['128.0.0.1', false],
  ['0.0.0.0', false],
  ['::', false],
  ['::2', false],
  ['::ffff:127.0.0.1', false],
  ['::127.0.0.1', false],
  ['64:ff9b::127.0.0.1', false],
  ['10.0.0.1', false],
  ['8.8.8.8', false],
])('%s is a loopback address: %s', (address, expected) => {
  expect(isLoopbackAddress(address)).toBe(expected)
})
