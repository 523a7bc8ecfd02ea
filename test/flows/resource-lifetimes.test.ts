import {
  job,
  mountResources,
  photosApi,
  printApi,
  reportsApi,
  threeResources,
  withResources,
} from '../support/flows/resources'
import { setStage } from '../support/flows/stage'
import { tokensOf } from '../support/flows/tokens'

const entries = Object.entries(threeResources)
const orders = { 'shortest last': entries, 'shortest first': entries.toReversed() }

describe.each(Object.entries(orders))(
  'Several resources with several lifetimes, named %s',
  (_order, resources) => {
    const open = () =>
      setStage(withResources({ resources: Object.fromEntries(resources) }), { mount: mountResources })
    const ask = async ({ flow }: ReturnType<typeof open>, resource: readonly string[]) =>
      tokensOf(await flow.request(job, { grant_type: 'client_credentials', resource }))

    test.each<[string, readonly string[], number]>([
      ['for one gets its lifetime', [photosApi], 600],
      ['for one without a lifetime gets that of the server', [printApi], 3600],
      ['for two gets the shorter one', [photosApi, reportsApi], 60],
      ['for two in the other order gets the shorter one', [reportsApi, photosApi], 60],
      ['for two of which one has none gets the other one', [printApi, photosApi], 600],
      ['for all three gets the shortest', [photosApi, printApi, reportsApi], 60],
    ])('a token %s', async (_what, resource, seconds) => {
      expect((await ask(open(), resource)).expiresIn).toBe(seconds)
    })

    test('a token for several ends at each of their guards when the shortest ends', async () => {
      const set = open()
      const { accessToken } = await ask(set, [photosApi, reportsApi])
      const statuses = async () => {
        const Authorization = `Bearer ${accessToken}`
        const paths = ['/api/photos', '/api/reports']
        return Promise.all(
          paths.map(async (path) => (await set.flow.open(path, undefined, { Authorization })).status),
        )
      }
      set.clock.advance(59)
      expect(await statuses()).toEqual([200, 200])
      set.clock.advance(1)
      expect(await statuses()).toEqual([401, 401])
    })
  },
)
