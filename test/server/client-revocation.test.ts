import { memoryStore } from '../../lib/index'
import { hostWith } from '../support/rooms/host'

const day = 24 * 3600

test.each([
  ['twice the longest life of a token', {}, 60 * day],
  ['as long as a consent counts, if that is longer', { rememberConsent: { seconds: 365 * day } }, 365 * day],
])('the mark of a client lasts %s', async (_what, options, least) => {
  const store = memoryStore()
  const lasting: number[] = []
  const index = Object.assign(Object.create(store.index), {
    revokeClient: async (_client: string, _at: number, seconds: number) => void lasting.push(seconds),
  })
  const { oauth } = hostWith({
    store: Object.assign(Object.create(store), { index }),
    authorizations: true,
    ...options,
  })
  await oauth.authorizations.revokeClient('printer')
  expect(lasting).toEqual([expect.any(Number)])
  expect(lasting[0]).toBeGreaterThanOrEqual(least)
  expect(lasting[0]).toBeLessThan(least + day)
})
