import { DocumentUnavailable } from '../../../lib/clients/document-fetch/document-unavailable'
import { HostLimits, type UrlTrust } from '../../../lib/clients/document-fetch/fetch-limits'
import { networksOf } from '../../../lib/limits/network'
import { Clock } from '../../support/flows/clock'

/** How many of these acts the limits of one process allow. */
function allowed<Act>(acts: readonly Act[], count: (limits: HostLimits, act: Act) => void): number {
  const limits = new HostLimits(new Clock().read)
  return acts.filter((act) => {
    try {
      count(limits, act)
      return true
    } catch (error) {
      if (error instanceof DocumentUnavailable) return false
      throw error
    }
  }).length
}

const connections = (addresses: readonly (readonly string[])[], trust: UrlTrust = 'unknown') =>
  allowed(addresses, (limits, each) => limits.countConnection(trust, each))

const fetches = (senders: readonly (readonly string[])[], hostname: (at: number) => string) =>
  allowed([...senders.entries()], (limits, [at, [sender]]) =>
    limits.countFetch({
      url: `https://${hostname(at)}/${at}`,
      hostname: hostname(at),
      trust: 'unknown',
      senders: networksOf(sender),
    }),
  )

const times = (count: number, addressAt: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => [addressAt(at)])

const in64 = (at: number) => `2001:db8::${at.toString(16)}`
const in56 = (at: number) => `2001:db8:0:${(at % 256).toString(16)}::1`
const in48 = (at: number) => `2001:db8:0:${((at % 256) * 256).toString(16)}::1`

describe('Connections for documents', () => {
  test.each([
    ['2400 a minute to one IPv4 address', times(2500, () => '192.0.2.1'), 2400],
    ['2400 a minute to one /64 of IPv6', times(2500, in64), 2400],
    ['9600 a minute to one /56', times(9700, in56), 9600],
    ['38 400 a minute to one /48', times(38_500, in48), 38_400],
  ])('are %s [document-7]', (_, addresses, most) => {
    expect(connections(addresses)).toBe(most)
  })

  test.each(['named', 'known'] as const)('for %s URLs are 600 a minute to one address', (trust) => {
    expect(
      connections(
        times(700, () => '192.0.2.1'),
        trust,
      ),
    ).toBe(600)
  })

  test('for unknown URLs use up nothing of named and known ones [document-8]', () => {
    const limits = new HostLimits(new Clock().read)
    for (let at = 0; at < 2400; at++) limits.countConnection('unknown', ['192.0.2.1'])
    expect(() => limits.countConnection('unknown', ['192.0.2.1'])).toThrow(DocumentUnavailable)
    limits.countConnection('known', ['192.0.2.1'])
    limits.countConnection('named', ['192.0.2.1'])
  })

  test('that a network refuses cost its /48 nothing', () => {
    const one = times(40_000, () => '2001:db8::1')
    expect(connections([...one, ...times(100, () => '2001:db8:0:100::1')])).toBe(2500)
  })

  test('to several addresses of one network count once', () => {
    expect(connections(Array.from({ length: 2410 }, () => ['2001:db8::1', '2001:db8::2']))).toBe(2400)
  })
})

describe('Fetches of unknown URLs', () => {
  const oneHost = () => 'client.example'
  const manyHosts = (at: number) => `${at}.client.example`

  test.each([
    ['30 a minute of one host for one IPv4 address', times(40, () => '192.0.2.1'), oneHost, 30],
    ['30 a minute of one host for one /64 of IPv6', times(40, in64), oneHost, 30],
    ['120 a minute of one host for one /56', times(130, in56), oneHost, 120],
    ['480 a minute of one host for one /48', times(490, in48), oneHost, 480],
    ['120 a minute of all hosts for one IPv4 address', times(130, () => '192.0.2.1'), manyHosts, 120],
    ['1920 a minute of all hosts for one /48', times(2000, in48), manyHosts, 1920],
    ['600 a minute of one host for all senders', times(700, (at) => `192.0.2.${at % 100}`), oneHost, 600],
  ])('are %s [document-7]', (_, senders, hostname, most) => {
    expect(fetches(senders, hostname)).toBe(most)
  })

  test('leave a host to others, whatever one /48 sends [document-7]', () => {
    expect(fetches([...times(2000, in48), ...times(30, () => '192.0.2.1')], oneHost)).toBe(510)
  })

  test.each(['named', 'known'] as const)(
    'use up nothing that %s URLs of their host need [document-8]',
    (trust) => {
      const limits = new HostLimits(new Clock().read)
      const url = 'https://client.example/own'
      const fetch = (senders: ReturnType<typeof networksOf>, counted: UrlTrust) =>
        limits.countFetch({ url, hostname: 'client.example', trust: counted, senders })
      for (let at = 0; at < 600; at++) fetch(networksOf(`192.0.2.${at % 100}`), 'unknown')
      expect(() => fetch(networksOf('198.51.100.1'), 'unknown')).toThrow(DocumentUnavailable)
      for (let at = 0; at < 6; at++) fetch([], trust)
      expect(() => fetch([], trust)).toThrow(DocumentUnavailable)
    },
  )
})
