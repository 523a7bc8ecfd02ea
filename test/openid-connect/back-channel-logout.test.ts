import { type FailureEvent, memoryStore, type PlugInServer } from '../../lib/index'
import { indexOwner, withOpenId } from '../../lib/authorization/authorization-index'
import { issuerDigest } from '../../lib/authorization/issuer'
import { announcing } from '../../lib/openid-connect/back-channel-logout'
import { application } from '../support/flows/application'
import { bent } from '../support/flows/clients'
import { claimsIn, identityKeys, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { type LogoutReceiver, logoutReceiver } from '../support/flows/logout-receiver'

/** Announces logouts of a server, whose owner alice has these clients. */
async function announcer(clientIds: readonly string[], uri: string, pauses: readonly number[]) {
  const keys = identityKeys()
  const store = memoryStore()
  const opened: PlugInServer[] = []
  const located = { backchannel_logout_uri: uri }
  const { oauth } = application({
    ...withIdentity(),
    store,
    clients: clientIds.map((client_id) => bent(relyingParty, { client_id, ...located }).registration),
    plugIns: [
      keys,
      {
        name: 'announcer',
        open(server) {
          opened.push(server)
          const clientMembers = [{ name: 'backchannel_logout_uri', mistakeIn: () => undefined }]
          return { indexSeconds: 60, clientMembers }
        },
      },
    ],
  })
  const [server] = opened
  if (server === undefined) throw new Error('The plug-in is not open.')
  const owner = indexOwner(issuerDigest(server.issuer), 'alice')
  for (const [index, clientId] of clientIds.entries()) {
    const authorizationId = String(index).padStart(22, '0')
    await withOpenId(store.index).add(
      owner,
      { authorizationId, clientId, openId: true },
      { seconds: 60, age: 0 },
    )
  }
  const failures: FailureEvent[] = []
  oauth.events.on('failure', (failure) => failures.push(failure))
  const terms = {
    issuer: server.issuer,
    ring: keys.ringOf(server),
    algorithmFor: () => 'ES256' as const,
    subjectFor: (subject: string) => `pairwise ${subject}`,
  }
  return { announce: announcing(server, terms, {}, pauses), failures }
}

describe('announcing', () => {
  const receivers: LogoutReceiver[] = []
  afterEach(async () => {
    await Promise.all(receivers.splice(0).map((receiver) => receiver.close()))
  })
  const receiver = async (...given: Parameters<typeof logoutReceiver>) => {
    const started = await logoutReceiver(...given)
    receivers.push(started)
    return started
  }

  test('sends a new token after a failure that may pass', async () => {
    const news = await receiver((nth) => (nth < 2 ? 503 : 200))
    const { announce, failures } = await announcer(['news'], news.uri, [0, 1, 1])
    await announce('alice')
    expect(news.tokens).toHaveLength(3)
    expect(new Set(news.tokens.map((token) => claimsIn(token)['jti'])).size).toBe(3)
    expect(failures).toEqual([])
  })

  test('gives up after the last attempt, and reports the last failure', async () => {
    const news = await receiver(() => 500)
    const { announce, failures } = await announcer(['news'], news.uri, [0, 1, 1])
    await announce('alice')
    expect(news.tokens).toHaveLength(3)
    expect(failures).toEqual([
      expect.objectContaining({
        cause: expect.objectContaining({ message: 'The client answered the logout token with 500.' }),
      }),
    ])
  })

  test.each([301, 400, 404])('does not try again after %d', async (status) => {
    const news = await receiver(() => status)
    const { announce, failures } = await announcer(['news'], news.uri, [0, 1, 1])
    await announce('alice')
    expect(news.tokens).toHaveLength(1)
    expect(failures).toHaveLength(1)
  })

  test('tries again if no connection comes about', async () => {
    const gone = await logoutReceiver()
    await gone.close()
    const { announce, failures } = await announcer(['news'], gone.uri, [0, 1, 1])
    await announce('alice')
    expect(failures).toEqual([
      expect.objectContaining({ cause: expect.objectContaining({ name: 'DocumentUnavailable' }) }),
    ])
  })

  test('names the owner as the client knows them, with the algorithm of the client', async () => {
    const news = await receiver()
    const { announce } = await announcer(['news'], news.uri, [0])
    await announce('alice')
    expect(claimsIn(news.tokens[0] ?? '')).toMatchObject({ sub: 'pairwise alice' })
    expect(Buffer.from(String(news.tokens[0]).split('.')[0] ?? '', 'base64url').toString()).toContain(
      '"ES256"',
    )
  })

  test('tells 1000 clients, and reports that there are more', async () => {
    const news = await receiver()
    const clientIds = Array.from({ length: 1001 }, (_, index) => `client-${index}`)
    const { announce, failures } = await announcer(clientIds, news.uri, [0])
    await announce('alice')
    expect(news.tokens).toHaveLength(1000)
    expect(failures).toEqual([
      expect.objectContaining({
        clientId: undefined,
        cause: expect.objectContaining({ message: 'The owner has 1001 clients, and 1000 were told.' }),
      }),
    ])
  })
})
