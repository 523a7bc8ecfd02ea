import { countInMemory } from '../../lib/http/network-limit'
import { Clock } from '../support/flows/clock'

function counting(attempts = 2) {
  const clock = new Clock()
  const count = countInMemory({ attempts, seconds: 60 }, clock.read)
  return { clock, of: (ip: string | undefined) => Reflect.apply(count, undefined, [{ ip }, {}]) }
}

describe('countInMemory', () => {
  it('counts each network for itself, until its time is over', () => {
    const { clock, of } = counting()
    const endsAt = clock.read() + 60_000
    expect(of('192.0.2.1')).toEqual({ network: '192.0.2.1', isOver: false, remaining: 1, endsAt })
    clock.advance(30)
    expect(of('192.0.2.1')).toMatchObject({ isOver: false, remaining: 0, endsAt })
    expect(of('192.0.2.1')).toMatchObject({ isOver: true, remaining: 0, endsAt })
    expect(of('192.0.2.2')).toMatchObject({ isOver: false, remaining: 1 })
    clock.advance(30)
    expect(of('192.0.2.1')).toMatchObject({ isOver: false, remaining: 1 })
    expect(of('192.0.2.2')).toMatchObject({ isOver: false, remaining: 0 })
  })

  it('takes 64 bits of IPv6 for one network', () => {
    const { of } = counting()
    of('2001:db8::1')
    expect(of('2001:db8::2')).toMatchObject({ remaining: 0 })
    expect(of('2001:db8:0:1::1')).toMatchObject({ remaining: 1 })
  })

  it('has room for a hundred thousand, lets one more pass uncounted, and has room again', () => {
    const { clock, of } = counting()
    for (let network = 0; network < 100_000; network++)
      of(`10.${network >> 16}.${(network >> 8) & 255}.${network & 255}`)
    expect(of('192.0.2.1')).toBeUndefined()
    expect(of('10.0.0.7')).toMatchObject({ remaining: 0 })
    clock.advance(60)
    expect(of('192.0.2.1')).toMatchObject({ remaining: 1 })
  })
})
