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

    test('the shortest lifetime counts, and that of the server where a resource has none', async () => {
      const set = open()
      const seconds = async (...asked: readonly string[]) => (await ask(set, asked)).expiresIn
      expect([
        await seconds(photosApi),
        await seconds(printApi),
        await seconds(reportsApi, photosApi),
        await seconds(printApi, photosApi),
        await seconds(photosApi, printApi, reportsApi),
      ]).toEqual([600, 3600, 60, 600, 60])
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
