import { OptionsReader } from '../../lib/primitives/options-reader'
import { readLimit } from '../../lib/limits/limit'
import { networkOf } from '../../lib/limits/network'

const fallback = { attempts: 10, seconds: 900 }

function read(source: unknown) {
  const reading = new OptionsReader({ username: source }, 'limits')
  return { limit: readLimit(reading, 'username', fallback), issues: reading.issues }
}

describe('readLimit', () => {
  it.each([
    [undefined, fallback],
    [false, undefined],
    [{}, fallback],
    [{ attempts: 3 }, { attempts: 3, seconds: 900 }],
    [{ seconds: 60 }, { attempts: 10, seconds: 60 }],
    [
      { attempts: 1_000_000, seconds: 86_400 },
      { attempts: 1_000_000, seconds: 86_400 },
    ],
  ])('makes of %j: %j', (source, limit) => {
    expect(read(source)).toEqual({ limit, issues: [] })
  })

  it.each([0, -1, 1.5, '5', NaN, Infinity, null, 1_000_001])('refuses %j attempts', (attempts) => {
    expect(read({ attempts }).issues).toEqual([
      { path: 'limits.username.attempts', message: 'must be a whole number, 1 to 1000000.' },
    ])
  })

  it.each([0, 86_401, '60'])('refuses %j seconds', (seconds) => {
    expect(read({ seconds }).issues).toEqual([
      { path: 'limits.username.seconds', message: 'must be a whole number, 1 to 86400.' },
    ])
  })

  it.each([true, 5, null, [], '10/900'])('refuses %j, which is no limit', (source) => {
    expect(read(source).issues).toEqual([{ path: 'limits.username', message: 'must be an object.' }])
  })

  it('refuses a name that it does not know', () => {
    expect(read({ attempt: 3 }).issues).toEqual([
      {
        path: 'limits.username.attempt',
        message: 'is not known here. Did you mean attempts? The known names are attempts, seconds.',
      },
    ])
  })
})

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
