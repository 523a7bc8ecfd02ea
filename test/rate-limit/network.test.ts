import { networkOf } from '../../lib/rate-limit/network'

describe('networkOf: what counts as one address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:51234', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:0207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['[::ffff:192.0.2.7]:51234', '192.0.2.7'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::192.0.2.7', '0:0:0:0::/64'],
  ])('of %s: %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })

  it.each([undefined, '', 'unknown', 'x', '1.2.3', '1.2.3.4.5', '300.1.1.1', '[]', '[', '1::2::3'])(
    'of %j, which is no address: unknown',
    (address) => {
      expect(networkOf(address)).toBe('unknown')
    },
  )

  it.each(['x'.repeat(10_000), '[::1]:x', '10.0.0.1, 10.0.0.2', '__proto__', '::ffff:300.0.0.1'])(
    'gives no count of its own to %s',
    (address) => {
      expect(networkOf(address)).toBe('unknown')
    },
  )
})
