import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { application } from '../support/flows/application'
import { backChannelStage, withReceivers } from '../support/flows/back-channel-stage'
import { bent } from '../support/flows/clients'
import { claimsIn, identityKeys, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { outcomeOf } from '../support/flows/outcome'
import { describeOnStores } from '../support/flows/stores-of-run'

const event = 'http://schemas.openid.net/event/backchannel-logout'

describeOnStores('Back-Channel Logout', (stage) => {
  const receiver = withReceivers()
  const open = backChannelStage(stage)

  /** A client that has heard of a logout, and the token that came. */
  async function heard() {
    const news = await receiver()
    const set = open({ news: news.uri })
    const tokens = await set.logIn('news')
    await set.plugin.announceLogout('alice')
    const [token = ''] = news.tokens
    return { ...set, news, tokens, token, claims: claimsIn(token) }
  }

  test('[BCL-1] the metadata says that the server announces logouts, and that no sid comes', async () => {
    const { body } = await open({}).flow.open('/.well-known/openid-configuration')
    expect(body).toMatchObject({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: false,
    })
  })

  test('[BCL-2] a logout token has iss, aud, iat, exp, jti, sub and the event, whose value is empty', async () => {
    const { claims } = await heard()
    expect(claims).toEqual({
      iss: 'http://localhost',
      aud: 'news',
      sub: 'alice',
      iat: expect.any(Number),
      exp: expect.any(Number),
      jti: expect.any(String),
      events: { [event]: {} },
    })
  })

  test('[BCL-3] a logout token has no nonce', async () => {
    expect((await heard()).claims).not.toHaveProperty('nonce')
  })

  test('[BCL-4] a logout token is signed by a published key with the algorithm of ID tokens, and its typ is logout+jwt', async () => {
    const { flow, token, clock } = await heard()
    const keys = createLocalJWKSet((await flow.open('/.well-known/jwks.json')).body)
    const currentDate = new Date(clock.read())
    const expected = { issuer: 'http://localhost', audience: 'news', typ: 'logout+jwt', currentDate }
    await expect(jwtVerify(token, keys, expected)).resolves.toBeDefined()
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', typ: 'logout+jwt' })
  })

  test('[BCL-5] a logout token lives two minutes at most', async () => {
    const { claims } = await heard()
    expect(Number(claims['exp']) - Number(claims['iat'])).toBeLessThanOrEqual(120)
  })

  test('[BCL-6] the token comes by POST as the form parameter logout_token', async () => {
    const { news, token } = await heard()
    expect(news.headers).toEqual([
      expect.objectContaining({ 'content-type': 'application/x-www-form-urlencoded' }),
    ])
    expect(token.split('.')).toHaveLength(3)
  })

  test('[BCL-7] each client of the owner that has registered a URI hears of the logout, and no other', async () => {
    const [news, shop, other] = [await receiver(), await receiver(), await receiver()]
    const set = open({ news: news.uri, shop: shop.uri, other: other.uri, quiet: undefined })
    for (const clientId of ['news', 'shop', 'quiet']) await set.logIn(clientId)
    await set.logIn('other', 'bob')
    await set.plugin.announceLogout('alice')
    expect([news, shop, other].map(({ tokens }) => tokens.length)).toEqual([1, 1, 0])
  })

  test('[BCL-8] a response of 200 or 204 is a success, and 400 is a failure that the host hears of', async () => {
    const [good, empty, bad] = [await receiver(), await receiver(() => 204), await receiver(() => 400)]
    const set = open({ good: good.uri, empty: empty.uri, bad: bad.uri })
    for (const clientId of ['good', 'empty', 'bad']) await set.logIn(clientId)
    await set.plugin.announceLogout('alice')
    expect(set.failures.map(({ clientId }) => clientId)).toEqual(['bad'])
  })

  test('[BCL-9] a logout token is no ID token, and an ID token confirms no logout', async () => {
    const { flow, token } = await heard()
    const asHint = await flow.open(`/logout?id_token_hint=${token}`, 'alice')
    expect(outcomeOf(asHint)).toBe('page 400 invalid_request')
  })

  test('[BCL-10] tokens of clients live on after a logout', async () => {
    const { flow, tokens, clients } = await heard()
    const [news = relyingParty] = clients
    expect(outcomeOf(await flow.refresh(news, tokens.refreshToken))).toBe('tokens')
  })
})

describe('Back-Channel Logout', () => {
  const keys = identityKeys()
  const created = (members: object) => () =>
    application({
      ...withIdentity(),
      issuer: 'https://photos.example',
      clients: [bent(relyingParty, members).registration],
      plugins: [keys, openIdConnect({ keys, backChannelLogout: true })],
    })

  test('[BCL-11] backchannel_logout_uri is an absolute URL without a fragment', () => {
    for (const backchannel_logout_uri of ['/logout', 'https://a.example/logout#x', 'ftp://a.example/', 7])
      expect(created({ backchannel_logout_uri })).toThrow(/backchannel_logout_uri must be/)
    expect(created({ backchannel_logout_uri: 'https://a.example/logout?x=y' })).not.toThrow()
  })

  test('[BCL-12] a client that needs sid is refused at registration', () => {
    const uri = { backchannel_logout_uri: 'https://a.example/logout' }
    expect(created({ ...uri, backchannel_logout_session_required: true })).toThrow(
      /backchannel_logout_session_required must be false/,
    )
    expect(created({ ...uri, backchannel_logout_session_required: false })).not.toThrow()
  })
})
