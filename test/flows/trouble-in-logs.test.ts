import { Redis } from 'ioredis'
import { inspect } from 'node:util'
import { redisStore } from '../../lib/index'
import { describeOwnRedis } from '../support/describe-own-redis'
import { application } from '../support/flows/application'
import { photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { startRedis, type RedisServer } from '../support/redis-server'

const everything = (value: unknown) =>
  inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity, maxArrayLength: Infinity })

describeOwnRedis('When Redis refuses a write', () => {
  let server: RedisServer
  let client: Redis
  beforeAll(async () => {
    server = await startRedis({ own: true })
    client = new Redis(server.url)
    // Full from the first byte: each write is refused, and ioredis hangs the whole command on the error.
    await client.config('SET', 'maxmemory', '1')
  })
  afterAll(async () => {
    client.disconnect()
    await server.stop()
  })

  const owner = 'alice-whom-no-log-should-name'
  const kept = [owner, photoPrint.registration.redirect_uris[0], 'oauth:authorization:']

  test('neither the warning nor the event of it holds anything of the record [input-23]', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const silent = application({ store: redisStore({ client }) })
    silent.oauth.events.removeAllListeners('failure')
    const heard = application({ store: redisStore({ client }) })
    for (const { flow } of [silent, heard]) {
      const answer = await flow.ask(authorizationRequest(photoPrint), owner)
      expect(answer.get('Location')).toMatch(/[?&]error=temporarily_unavailable(?:&|$)/)
    }
    const warnings = warn.mock.calls.map((call) => everything(call))
    warn.mockRestore()
    expect(warnings.join('\n')).toMatch(/^[^]*store_unavailable: .*OOM command not allowed/)
    expect(heard.failures).toMatchObject([{ reason: 'store_unavailable', cause: { name: 'ReplyError' } }])
    const told = [...warnings, ...heard.failures.map(({ cause }) => everything(cause))].join('\n')
    for (const text of kept) expect(told).not.toContain(text)
  })
})
