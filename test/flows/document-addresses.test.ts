import { Resolver } from 'node:dns/promises'
import type { RequestListener } from 'node:http'
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { fetchOf, outcomeOfFetch, stoppedTimers } from '../support/flows/opened-documents'
import { authority, httpsOrigin, silentListener } from '../support/https-origin'
import type { Listener } from '../support/listening'
import { waitUntil } from '../support/wait-until'

const { ca } = authority
const identity = authority.issue(['client.example', '127.0.0.1', 'localhost'])
const open: RequestListener = (_request, response) =>
  void response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')

/** At 127.0.0.1, with a document. */
let origin: Listener
/** What no fetch may reach: it accepts connections at every address of this machine, loopback of both families too. */
let inner: Listener
const others: Listener[] = []
beforeAll(async () => {
  jest.useFakeTimers(stoppedTimers)
  // An address that is good is tried as long as it takes: no test may send a packet to the public address behind it.
  setDefaultAutoSelectFamilyAttemptTimeout(60_000)
  origin = await httpsOrigin(identity, open)
  inner = await silentListener({ address: '::' })
})
afterEach(async () => {
  jest.restoreAllMocks()
  for (const other of others.splice(0)) await other.close()
  if (inner.connections() > 0) throw new Error('An inner listener was reached.')
})
afterAll(() => Promise.all([origin.close(), inner.close()]))

let answers: readonly string[] = []
const lookup = async () => answers.map((address) => ({ address }))
const atLoopback = fetchOf({ ca, lookup })
const abroad = fetchOf({ ca, lookup }, { issuer: 'https://as.example' })

/** What becomes of a document at the host of the origin, whose name has these addresses. */
async function found(addresses: readonly string[], documents = atLoopback, { port } = origin) {
  answers = addresses
  return outcomeOfFetch(documents.fetch(`https://client.example:${port}/`))
}

// Each range with its first and its last address, and the neighbours that are public.
test.each<[name: string, first: string, last: string, neighbours: readonly string[]]>([
  ['this network', '0.0.0.0', '0.255.255.255', ['1.0.0.0']],
  ['private use, 10/8', '10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
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
  ['unspecified of IPv6', '::', '::', []],
  ['IPv4-compatible', '::2', '::ffff:ffff', []],
  ['IPv4-mapped', '::ffff:0:0', '::ffff:ffff:ffff', []],
  ['IPv4-mapped, of public addresses', '::ffff:8.8.8.8', '::ffff:1.1.1.1', []],
  ['IPv4-translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff', []],
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
  ['AS112 of IPv6', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', ['2620:4f:7fff::']],
  ['new documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', ['3ffe::', '3fff:1000::']],
  ['ISATAP, of private use', '2600::5efe:10.0.0.1', '2600::200:5efe:192.168.0.1', ['2600::5efe:8.8.8.8']],
  ['unassigned from 4000::, SRv6', '4000::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['link-local and site-local', 'fe80::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['multicast of IPv6', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
])(
  'an address of %s (%s to %s) forbids its name, beside a good one too, and its neighbours do not [document-1]',
  async (_, first, last, neighbours) => {
    for (const forbidden of [first, last]) {
      expect(await found(['127.0.0.1', forbidden])).toBe('address_forbidden')
      expect(await found([forbidden])).toBe('address_forbidden')
    }
    for (const neighbour of neighbours) expect(await found(['127.0.0.1', neighbour])).toBe('document')
  },
)

test.each([
  ...'localhost 127.1 0x7f.0.0.1 010.0.0.1 2130706433 8.8.8.8:53 8.8.8.8%eth0'.split(' '),
  ...'2600::1%eth0 fe80::1%1 ::1%1 [2600::1] 2600::1/64'.split(' '),
  '',
  ' 8.8.8.8',
])('an answer that is no usual address forbids its name: %j [document-1]', async (text) => {
  expect(await found(['127.0.0.1', text])).toBe('address_forbidden')
})

test.each([
  ['127.0.0.1', 'document'],
  ['127.255.255.254', 'connection'],
  ['::1', 'connection'],
  ['0:0:0:0:0:0:0:1', 'connection'],
])('a server at loopback goes to loopback, and a public one does not: %s (%s)', async (address, there) => {
  expect(await found([address])).toBe(there)
  expect(await found([address], abroad, inner)).toBe('address_forbidden')
})

test.each<[where: string, addresses: readonly string[]]>([
  ['last', ['8.8.8.8', '2600::1', '127.0.0.1']],
  ['first', ['127.0.0.1', '8.8.8.8']],
  ['behind a hundred others', [...Array.from({ length: 100 }, (_, at) => `8.8.8.${at}`), '::1']],
])('an inner address forbids a name with public ones: %s [document-1]', async (_, addresses) => {
  expect(await found(addresses, abroad, inner)).toBe('address_forbidden')
})

test.each([
  ...'127.0.0.1 127.1 0x7f.1 0x7f000001 0177.0.0.1 2130706433 0 127.0.0.1%2e 127.0.0.1.'.split(' '),
  ...'%31%32%37.0.0.1 [::1] [0:0::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1]'.split(' '),
  ...'localhost LOCALHOST a.localhost 169.254.169.254 [fd00:ec2::254]'.split(' '),
])('a public server asks neither DNS nor the host %s [document-1, stranger-7]', async (host) => {
  const asked = jest.spyOn(Resolver.prototype, 'resolve4')
  const documents = fetchOf({ ca }, { issuer: 'https://as.example' })
  const outcome = await outcomeOfFetch(documents.fetch(`https://${host}:${inner.port}/`))
  expect(['address_forbidden', 'url']).toContain(outcome)
  expect(asked.mock.calls).toEqual([])
})

test.each(['127.0.0.1', '2130706433', '0x7f.1', '017700000001', 'localhost'])(
  'a server at loopback needs no DNS for %s',
  async (host) => {
    expect(await outcomeOfFetch(fetchOf({ ca }).fetch(`https://${host}:${origin.port}/`))).toBe('document')
  },
)

test.each([
  ...'http://127.0.0.1:PORT/ HTTP://127.0.0.1:PORT/ ftp://127.0.0.1:PORT/ file:///etc/passwd'.split(' '),
  ...'data:application/json,{} https:127.0.0.1:PORT/ https:/127.0.0.1:PORT/ https:///127.0.0.1:PORT/'.split(
    ' ',
  ),
  ...'https:\\\\127.0.0.1:PORT\\ https://public.example\\@127.0.0.1:PORT/ https://a@127.0.0.1:PORT/'.split(
    ' ',
  ),
  ...'https://a:b@127.0.0.1:PORT/ https://@127.0.0.1:PORT/ https://:@127.0.0.1:PORT/'.split(' '),
  ...'https://127.0.0.1:PORT/# https://127.0.0.1:PORT/#fragment https://127.0.0.1:99999/'.split(' '),
  ...'https://127.0.0.1:PORT:443/ https://localhost.:PORT/ https://[::1%25lo]:PORT/'.split(' '),
  ...'https://[::1%lo]:PORT/ https://256.0.0.1:PORT/ //127.0.0.1:PORT/ /'.split(' '),
  '',
  ' https://127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/ HTTP/1.1',
  'https://127.0.0.1:PORT/\r\nHost: inner',
  'https://127.0.0\t.1:PORT/',
  'https://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3:PORT/',
  `https://127.0.0.1:PORT/${'a'.repeat(2048)}`,
])('a server fetches only from https URLs that need no repair, and not from %j [document-3]', async (url) => {
  answers = ['127.0.0.1']
  expect(await outcomeOfFetch(atLoopback.fetch(url.replace('PORT', String(inner.port))))).toBe('url')
})

test('a name that moves inside after the check is looked up once, and the connection stays with the first answer [document-2]', async () => {
  const first = await httpsOrigin(identity, open, { address: '127.0.0.2' })
  const moved = await silentListener({ address: '127.0.0.3', port: first.port })
  others.push(first, moved)
  const places = ['127.0.0.2', '127.0.0.3', '127.0.0.3']
  const documents = fetchOf({ ca, lookup: async () => [{ address: places.shift() ?? '127.0.0.3' }] })
  expect(await outcomeOfFetch(documents.fetch(`https://client.example:${first.port}/`))).toBe('document')
  expect([first.connections(), moved.connections(), places.length]).toEqual([1, 0, 2])
})

test('the second address is asked if the first does not answer, and no third [document-7]', async () => {
  const third = await silentListener({ address: '127.0.0.5' })
  others.push(third)
  expect(await found(['127.0.0.9', '127.0.0.1'])).toBe('document')
  expect(await found(['127.0.0.2', '127.0.0.3', '127.0.0.5'], atLoopback, third)).toBe('connection')
  expect(third.connections()).toBe(0)
})

test('a name without an address, or whose look-up fails, is unresolved; a look-up without an answer is silence', async () => {
  const failing = (code: string) => async () => Promise.reject(Object.assign(new Error('no'), { code }))
  const outcomes = [await found([])]
  for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'ESERVFAIL', 'ECONNREFUSED'])
    outcomes.push(await outcomeOfFetch(fetchOf({ lookup: failing(code) }).fetch('https://client.example/')))
  expect(outcomes).toEqual(['unresolved', 'unresolved', 'dns_silent', 'dns_silent', 'dns_silent'])
})

type Answer = readonly string[] | 'silence' | undefined
interface Zone {
  readonly A: Answer
  readonly AAAA: Answer
}

/** DNS that answers at once, or never: until the server cancels its question. No address is a name that does not exist. */
function dns(zone: Zone): readonly string[] {
  const asked: string[] = []
  const silent: (() => void)[] = []
  const failure = (code: string) => Object.assign(new Error(code), { code })
  const resolve = (type: keyof Zone) => (name: string) => {
    asked.push(`${name} ${type}`)
    const answer = zone[type]
    if (answer === 'silence')
      return new Promise<never>((_, reject) => silent.push(() => reject(failure('ECANCELLED'))))
    return answer === undefined ? Promise.reject(failure('ENOTFOUND')) : Promise.resolve(answer)
  }
  jest.spyOn(Resolver.prototype, 'cancel').mockImplementation(() => silent.splice(0).forEach((end) => end()))
  jest.spyOn(Resolver.prototype, 'resolve4').mockImplementation(Object(resolve('A')))
  jest.spyOn(Resolver.prototype, 'resolve6').mockImplementation(Object(resolve('AAAA')))
  return asked
}

test.each<[title: string, zone: Zone, outcome: string]>([
  ['IPv4 alone', { A: ['127.0.0.1'], AAAA: undefined }, 'document'],
  ['an address of either family', { A: ['127.0.0.1'], AAAA: ['2600::1'] }, 'document'],
  ['one family that does not answer', { A: ['127.0.0.1'], AAAA: 'silence' }, 'document'],
  ['IPv6 alone', { A: undefined, AAAA: ['::1'] }, 'connection'],
  ['an inner one of the other family', { A: ['127.0.0.1'], AAAA: ['fd00::1'] }, 'address_forbidden'],
  [
    'an inner one behind two others',
    { A: ['127.0.0.1', '8.8.8.8', '10.0.0.1'], AAAA: [] },
    'address_forbidden',
  ],
  ['silence', { A: 'silence', AAAA: 'silence' }, 'dns_silent'],
  ['none of one family, and silence about the other', { A: [], AAAA: 'silence' }, 'dns_silent'],
  ['none', { A: [], AAAA: [] }, 'unresolved'],
  ['no such name', { A: undefined, AAAA: undefined }, 'unresolved'],
])('DNS is asked once for each family, and says of a name: %s (%s)', async (_, zone, outcome) => {
  const asked = dns(zone)
  const fetched = outcomeOfFetch(fetchOf({ ca }).fetch(`https://client.example:${origin.port}/`))
  await waitUntil('DNS is asked for both families', async () => asked.length === 2)
  // The two seconds of a document are not over: silence leaves time for the rest.
  jest.advanceTimersByTime(1900)
  expect(await fetched).toBe(outcome)
  expect(asked).toEqual(['client.example A', 'client.example AAAA'])
})
