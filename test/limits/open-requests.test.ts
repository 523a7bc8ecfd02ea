import { Throttled } from '../../lib/protocol/oauth-error'
import { openRequests } from '../../lib/limits/open-requests'
import { Clock } from '../support/flows/clock'

const limit = { attempts: 1, seconds: 60 }
const newClock = () => new Clock().read

describe('openRequests', () => {
  it('lets a request pass that cannot be counted', () => {
    const open = openRequests(limit, newClock(), 1)
    open.opened('alice')
    open.opened('bob')
    open.opened('bob')
    expect(() => open.opened('alice')).toThrow(Throttled)
  })

  it('returns how long the owner has to wait', () => {
    const time = new Clock()
    const open = openRequests(limit, time.read)
    open.opened('alice')
    time.advance(20)
    expect(() => open.opened('alice')).toThrow(expect.objectContaining({ retryAfter: 40 }))
    time.advance(40)
    expect(() => open.opened('alice')).not.toThrow()
  })

  it('counts none that was refused, and none that is over', () => {
    const open = openRequests(limit, newClock())
    open.opened('alice')
    for (let again = 0; again < 3; again++) expect(() => open.opened('alice')).toThrow(Throttled)
    open.ended('alice')
    open.ended('alice')
    expect(() => open.opened('alice')).not.toThrow()
    expect(() => open.opened('alice')).toThrow(Throttled)
  })

  it('keeps owners apart, however long their names are', () => {
    const open = openRequests(limit, newClock())
    open.opened(`${'x'.repeat(100_000)}1`)
    open.opened(`${'x'.repeat(100_000)}2`)
    expect(() => open.opened(`${'x'.repeat(100_000)}2`)).toThrow(
      expect.objectContaining({ reason: 'too_many_open_requests' }),
    )
  })
})
