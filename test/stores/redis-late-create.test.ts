import { setTimeout } from 'node:timers/promises'
import { redisStore, type RedisStore } from '../../lib/index'
import { connectionSettings } from '../../lib/stores/redis/connection'
import { startFaultyNetwork, type FaultyNetwork } from '../support/faulty-network'
import { application } from '../support/flows/application'
import { bent, everyClient, nightlyReport, photoPrint } from '../support/flows/clients'
import { authorizationRequest, type Flow } from '../support/flows/flow'
import { codeOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

const skipConsent = () => true
const clients = everyClient.map(
  (client) => (client === photoPrint ? bent(client, { may_introspect: true }) : client).registration,
)

describe('A write that arrives once more, after its record was removed, brings nothing back:', () => {
  let port = 0
  withRedis(({ server }) => void (port = server.port))
  let network: FaultyNetwork
  let store: RedisStore
  let flow: Flow
  beforeEach(async () => {
    network = await startFaultyNetwork(port)
    store = redisStore({ url: network.url, prefix: uniquePrefix() })
    ;({ flow } = application({ clients, store, storeDeadline: 10, skipConsent }))
    network.copyWrites(true)
  })
  afterEach(async () => {
    await store.close()
    await network.stop()
  })

  /** As a box on the way may deliver them, when the wait for the first copy is over for long. */
  async function copiesArrive(): Promise<void> {
    await setTimeout(connectionSettings.commandTimeout + 100)
    expect(await network.deliverCopies()).toBeGreaterThan(0)
  }

  it('a token of client credentials that was revoked', async () => {
    const itself = { grant_type: 'client_credentials', scope: 'photos:read' }
    const issued = await flow.request(nightlyReport, itself)
    const accessToken = String(issued.body.access_token)
    expect((await flow.photos(accessToken)).status).toBe(200)
    await flow.revoke(nightlyReport, accessToken)
    await copiesArrive()
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  it('a code that was replayed, and its tokens', async () => {
    const code = codeOf(await flow.ask(authorizationRequest(photoPrint), 'bob'))
    const { accessToken, refreshToken } = tokensOf(await flow.redeem(photoPrint, code))
    expect((await flow.redeem(photoPrint, code)).status).toBe(400)
    await copiesArrive()
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await flow.refresh(photoPrint, refreshToken)).status).toBe(400)
    expect((await flow.redeem(photoPrint, code)).status).toBe(400)
  })
})
