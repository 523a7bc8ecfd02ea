import { openRequests } from '../../lib/attempts/open-requests'
import { memoryCounters } from '../../lib/stores/memory-counters'

const limit = { attempts: 1, seconds: 60 }

describe('openRequests', () => {
  it('lets a request pass that cannot be counted', async () => {
    const open = openRequests(limit, memoryCounters({ maximumKeys: 1 }))
    await open.opened('alice')
    await open.opened('bob')
    await open.opened('bob')
    await expect(open.opened('alice')).rejects.toMatchObject({ retryAfter: 60 })
  })

  it('keeps owners apart, however long their names are', async () => {
    const open = openRequests(limit, memoryCounters())
    await open.opened(`${'x'.repeat(100_000)}1`)
    await open.opened(`${'x'.repeat(100_000)}2`)
    await expect(open.opened(`${'x'.repeat(100_000)}2`)).rejects.toMatchObject({
      reason: 'too_many_open_requests',
    })
  })
})
