import { networkOf, networksOf, providerOf } from '../../lib/limits/network'

test.each([
  ['192.0.2.1', '192.0.2.1', '192.0.0.0/16'],
  ['192.0.2.1:443', '192.0.2.1', '192.0.0.0/16'],
  ['::ffff:192.0.2.1', '192.0.2.1', '192.0.0.0/16'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64', '2001:db8::/32'],
  ['[2001:DB8:0:1:5:6:7:8]:443', '2001:db8:0:1::/64', '2001:db8::/32'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0::/32'],
  ['::1', '0:0:0:0::/64', '0:0::/32'],
  [undefined, 'unknown', 'unknown'],
  ['elsewhere', 'unknown', 'unknown'],
])('%s is in the network %s, of the provider %s', (address, network, provider) => {
  expect(networkOf(address)).toBe(network)
  expect(providerOf(network)).toBe(provider)
})

describe('networksOf', () => {
  it('names 48, 56 and 64 bits of IPv6, the widest first', () => {
    expect(networksOf('2001:db8:1:abcd::1')).toEqual([
      { network: '2001:db8:1::/48', factor: 16 },
      { network: '2001:db8:1:ab00::/56', factor: 4 },
      { network: '2001:db8:1:abcd::/64', factor: 1 },
    ])
  })

  it.each(['192.0.2.1', '::ffff:192.0.2.1', 'elsewhere', undefined])(
    'names one network for %s',
    (address) => {
      expect(networksOf(address)).toEqual([{ network: networkOf(address), factor: 1 }])
    },
  )
})

test('a provider has one name, whatever the size of its network', () => {
  expect(networksOf('2001:db8:1:abcd::1').map(({ network }) => providerOf(network))).toEqual([
    '2001:db8::/32',
    '2001:db8::/32',
    '2001:db8::/32',
  ])
})
