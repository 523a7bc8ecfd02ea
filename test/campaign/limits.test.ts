import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { memoryStore, type PluginServer } from '../../lib/index'
import { application, type Mount } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { but } from '../support/stores/but'

// How many counts a process keeps is no option. To fill them all takes seconds.

test('Many clients drive no count out of memory: those without room share one [store-30]', async () => {
  const clock = new Clock()
  const opened: PluginServer[] = []
  application({
    clock: clock.read,
    counters: but(memoryStore(), { write: async () => true }),
    limits: { singleUses: { attempts: 2, seconds: 60 } },
    plugins: [{ name: 'uses', open: (server) => (opened.push(server), {}) }],
  })
  const [server] = opened
  const use = async (share: string) =>
    server?.counters.useOnce('key', 60, share).then(
      () => 'used',
      (error: { retryAfter?: number }) => error.retryAfter,
    )
  expect([await use('full'), await use('full'), await use('full')]).toEqual(['used', 'used', 30])
  await use('half')
  for (let share = 0; share < 99_998; share++) void use(`other ${share}`)
  const late: unknown[] = []
  for (let share = 0; share < 10; share++) late.push(await use(`late ${share}`))
  expect(late.filter((answer) => answer === 'used')).toHaveLength(2)
  expect([await use('full'), await use('half'), await use('half')]).toEqual([30, 'used', 30])
  clock.advance(60)
  expect([await use('full'), await use('new'), await use('another')]).toEqual(['used', 'used', 'used'])
})

test('A network for whose count there is no room passes, and none that is counted gets a new count by it [store-35]', async () => {
  const clock = new Clock()
  const mount: Mount = (app, oauth) => app.set('trust proxy', true).use(oauth.router())
  const { app } = application(
    {
      clock: clock.read,
      limits: { networks: { authorization: { attempts: 2, seconds: 60 } } },
      pages: { error: (_request, response) => response.end() },
    },
    { mount },
  )
  /** The status of an authorization request from this address, which no socket carries. */
  const from = (address: string) =>
    new Promise<number>((resolve) => {
      const incoming = new IncomingMessage(new Socket())
      Object.assign(incoming, { method: 'GET', url: '/authorize' })
      incoming.headers['x-forwarded-for'] = address
      const response = new ServerResponse(incoming)
      response.end = () => (resolve(response.statusCode), response)
      app(incoming, response)
    })
  for (let network = 0; network < 100_000; network++)
    await from(`10.${network >> 16}.${(network >> 8) & 255}.${network & 255}`)
  expect([await from('10.0.0.0'), await from('10.0.0.0')]).toEqual([400, 429])
  const without = Array.from({ length: 3 }, () => from('192.0.2.1'))
  expect([...(await Promise.all(without)), await from('10.0.0.1')]).toEqual([400, 400, 400, 400])
  expect([await from('10.0.0.1'), await from('10.0.0.0')]).toEqual([429, 429])
  clock.advance(60)
  expect([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1')]).toEqual([400, 400, 429])
  expect(await from('10.0.0.0')).toBe(400)
})
