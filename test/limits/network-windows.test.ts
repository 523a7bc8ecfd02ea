import { NetworkWindows } from '../../lib/limits/network-windows'
import { Clock } from '../support/flows/clock'

function started(maximum?: number) {
  const clock = new Clock()
  const windows = new NetworkWindows(clock.read, 60_000, maximum)
  const hitsOf = (network: string) => windows.increment(network).totalHits
  return { clock, windows, hitsOf }
}

const one = 1 / 256

describe('NetworkWindows', () => {
  it('count each network for itself while there is room, for a hundred thousand networks', () => {
    const { hitsOf } = started()
    for (let network = 0; network < 100_000; network++)
      hitsOf(`10.${network >> 16}.${network >> 8}.${network}`)
    expect(hitsOf('10.0.0.0')).toBe(2)
    expect(hitsOf('192.0.2.1')).toBe(one)
  })

  it('count networks without room with their provider: 32 bits of IPv6, 16 of IPv4 [store-35]', () => {
    const { hitsOf } = started(1)
    hitsOf('unknown')
    // Room for one provider.
    expect(hitsOf('2001:db8:0:1::/64')).toBe(one)
    expect(hitsOf('2001:db8:ffff:1::/64')).toBe(2 * one)
    const others = started(1)
    others.hitsOf('unknown')
    expect(others.hitsOf('192.0.2.1')).toBe(one)
    expect(others.hitsOf('192.0.255.1')).toBe(2 * one)
  })

  it('count networks of each size for themselves', () => {
    const { hitsOf } = started(2)
    hitsOf('192.0.2.1')
    hitsOf('192.0.2.2')
    expect(hitsOf('2001:db8:1::/48')).toBe(one)
    expect(hitsOf('2001:db8:1:0::/64')).toBe(one)
    expect(hitsOf('2001:db8:2:0::/64')).toBe(2 * one)
  })

  it('count networks together whose providers have no room: none passes uncounted [store-35]', () => {
    const { hitsOf } = started(1)
    hitsOf('unknown')
    hitsOf('192.0.2.1')
    for (let provider = 1; provider <= 1000; provider++)
      expect(hitsOf(`10.${provider % 256}.0.${provider >> 8}`)).toBe(provider * one)
    expect(hitsOf('2001:db8:0:1::/64')).toBe(one)
    expect(hitsOf('2001:db9:0:1::/64')).toBe(2 * one)
    expect(hitsOf('unknown')).toBe(2)
    expect(hitsOf('192.0.2.2')).toBe(2 * one)
  })

  it('give room again when windows end', () => {
    const { clock, hitsOf } = started(1)
    for (const network of ['unknown', '192.0.2.1', '198.51.100.1']) hitsOf(network)
    clock.advance(60)
    expect(hitsOf('192.0.2.1')).toBe(1)
    expect(hitsOf('198.51.100.1')).toBe(one)
  })

  it('take a hit back where it counted', () => {
    const { windows, hitsOf } = started(1)
    const networks = ['unknown', '192.0.2.1', '198.51.100.1']
    const countAll = () => networks.map(hitsOf)
    const first = countAll()
    expect(countAll()).toEqual([2, 2 * one, 2 * one])
    for (const network of networks) for (let hit = 0; hit < 2; hit++) windows.decrement(network)
    expect(countAll()).toEqual(first)
  })

  it('forget a network on demand', () => {
    const { windows, hitsOf } = started()
    hitsOf('192.0.2.1')
    windows.resetKey('192.0.2.1')
    expect(hitsOf('192.0.2.1')).toBe(1)
  })
})
