import { randomInt } from 'node:crypto'
import type { Redis } from 'ioredis'
import { redisStore } from '../../../lib/paths/redis'
import { registeredClients } from '../../../lib/paths/registration'
import { createRefreshToken, secureRandom } from '../../../lib/protocol/credential'
import { application, withoutLimits, type Application } from '../../support/flows/application'
import {
  bent,
  nightlyReport,
  photoBook,
  photoFrame,
  type ClientApplication,
} from '../../support/flows/clients'
import { Clock } from '../../support/flows/clock'
import { consentFormOf } from '../../support/flows/consent-form'
import { authorizationRequest } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import {
  oldPrint,
  PasswordCheck,
  passwordRequest,
  withPassword,
  wonderland,
} from '../../support/flows/password'
import { codeVerifier } from '../../support/flows/proof-key'
import { registered, withSecret } from '../../support/flows/registered'
import { dumpOf, lootOf, spellingsOf, recordsIn, tagKeysIn } from '../../support/flows/stolen-dump'
import { refusalOf, tokensOf } from '../../support/flows/tokens'
import { withRedis } from '../../support/with-redis'

const inspector = bent(nightlyReport, { may_introspect: true })
const clientGrant = { grant_type: 'client_credentials', scope: 'photos:read' }

/** What a whole story leaves behind: what its parties hold, and what is still good of it. */
async function story({ flow, oauth }: Application) {
  const shop = await registered(oauth)
  const { client_secret } = await oauth.rotateClientSecret(shop.registration.client_id)
  const newShop = withSecret(shop, client_secret)
  const open = await flow.ask(authorizationRequest(photoBook), 'alice')
  const denied = await flow.ask(authorizationRequest(photoBook), 'alice')
  expect(outcomeOf(await flow.decide(denied, 'deny', 'alice'))).toBe('redirect access_denied')
  const unusedCode = await flow.approve(photoBook)
  const spentCode = await flow.approve(photoBook)
  const first = tokensOf(await flow.redeem(photoBook, spentCode))
  const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
  const third = tokensOf(await flow.refresh(photoBook, second.refreshToken))
  const ofShop = await flow.tokens(newShop)
  const ofFrame = await flow.tokens(photoFrame)
  const own = tokensOf(await flow.request(newShop, clientGrant))
  expect(refusalOf(await flow.request(oldPrint, { ...passwordRequest, password: 'guess' }))).toBe(
    '400 invalid_grant',
  )
  const byPassword = tokensOf(await flow.request(oldPrint, passwordRequest))
  const consentToken = consentFormOf(open, flow.paths.authorize).fields['authorization_request'] ?? ''
  const deniedConsentToken = consentFormOf(denied, flow.paths.authorize).fields['authorization_request'] ?? ''
  const tokens = [first, second, third, ofShop, ofFrame, own, byPassword]
  const secrets = [shop, newShop, photoFrame, inspector, oldPrint].map(({ secret = '' }) => secret)
  const credentials = [
    ...tokens.flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken]),
    consentToken,
    deniedConsentToken,
    unusedCode,
    spentCode,
    codeVerifier,
    wonderland.password,
    'guess',
    ...secrets,
  ].filter((text) => text !== '')
  return { credentials, shop, newShop, consentToken, unusedCode, first, third, ofShop }
}

describe('The thief of a dump of Redis', () => {
  let redis: Redis
  withRedis(({ client }) => void (redis = client), { own: true })
  beforeEach(() => redis.flushall())

  /** A process on that Redis. */
  async function stage(): Promise<Application> {
    const store = redisStore({ client: redis })
    const clients = registeredClients(store)
    for (const { registration } of [photoBook, photoFrame, inspector, oldPrint])
      await clients.add(registration)
    const { plugins } = withPassword({ verify: new PasswordCheck().verify })
    // A clock that stands still: nothing is refused because it is late.
    const clock = new Clock().read
    const lives = { clock, storeDeadline: 10, lifetimes: { authorizationCode: 600 } }
    const unlimited = { limits: { ...withoutLimits.limits, clientAuthentication: false } } as const
    return application({
      ...lives,
      ...unlimited,
      store,
      clients,
      plugins: [...plugins],
      authorizations: true,
    })
  }

  /** Presents a text as everything that it could be, and tells what was not refused. */
  async function accepted({ flow }: Application, text: string, clients: readonly ClientApplication[]) {
    const asToken = (await flow.photos(text)).status === 200 ? ['access token'] : []
    const decision = { authorization_request: text, decision: 'approve' }
    const asked = outcomeOf(await flow.submit(flow.paths.authorize, decision, 'alice'))
    const outcome = outcomeOf(await flow.introspect(inspector, text))
    const passwords = await flow.request(oldPrint, { ...passwordRequest, password: text })
    const found = [
      ...asToken,
      ...(asked.startsWith('page 400') ? [] : [`consent token: ${asked}`]),
      ...(outcome === 'inactive' ? [] : [`token: ${outcome}`]),
      ...(passwords.status === 400 ? [] : [`password: ${passwords.status}`]),
    ]
    for (const client of clients) {
      const id = client.registration.client_id
      const refreshed = await flow.refresh(client, text)
      if (refreshed.status !== 400) found.push(`refresh token of ${id}: ${refreshed.status}`)
      const redeemed = await flow.redeem(client, text)
      if (redeemed.status !== 400) found.push(`code of ${id}: ${redeemed.status}`)
      if (client.secret === undefined) continue
      const authenticated = await flow.request(withSecret(client, text), clientGrant)
      // One that is too long for a secret is 400.
      if (![400, 401].includes(authenticated.status)) found.push(`secret of ${id}: ${authenticated.status}`)
    }
    // No limit shall refuse in the place of the check itself.
    const counts = await redis.keys('oauth:count:*')
    if (counts.length > 0) await redis.del(...counts)
    return found
  }

  test('finds no credential in it, in whatever spelling', async () => {
    const { credentials } = await story(await stage())
    const texts = await dumpOf(redis)
    const dump = texts.join('\n')
    expect(credentials.length).toBeGreaterThan(20)
    // It is the whole story that is looked at.
    for (const part of ['oauth:count:', 'oauth:owner:']) expect(dump).toContain(part)
    const stories = recordsIn(texts).map((record) => {
      if (record.state === 'requested') return record.decision ?? 'open'
      return record.state === 'active' && record.lastResponse !== undefined ? 'rotated' : record.state
    })
    expect(stories).toEqual(expect.arrayContaining(['open', 'denied', 'approved', 'active', 'rotated']))
    const found = credentials.filter((text) => spellingsOf(text).some((spelling) => dump.includes(spelling)))
    expect(found).toEqual([])
  })

  test('can present nothing of it, nor what can be put together from it [store-16]', async () => {
    const { newShop, consentToken, unusedCode, first, third, ofShop } = await story(await stage())
    // Another process: this one has seen no bcrypt, and compares a wrong secret in no time.
    const there = await stage()
    const { flow } = there
    const loot = lootOf(await dumpOf(redis))
    expect(loot.length).toBeGreaterThan(100)
    // Another twelfth in each run, because each text is presented in a dozen ways.
    const part = randomInt(12)
    const shown = loot.filter((_, index) => index % 12 === part)
    const accepting: string[] = []
    for (const text of shown)
      for (const what of await accepted(there, text, [photoBook, newShop]))
        accepting.push(`${text} as ${what}`)
    expect(accepting).toEqual([])
    // What the parties hold is good after all that, and so would the same attempts have been with it.
    for (const { accessToken } of [first, third, ofShop])
      expect(await accepted(there, accessToken, [])).toEqual(['access token', 'token: active'])
    expect(await accepted(there, newShop.secret ?? '', [newShop])).toEqual([
      `secret of ${newShop.registration.client_id}: 200`,
    ])
    expect(await accepted(there, unusedCode, [photoBook])).toEqual(['code of photo-book: 200'])
    expect(await accepted(there, consentToken, [])).toEqual(['consent token: redirect code'])
    expect(await accepted(there, ofShop.refreshToken, [newShop])).toContain(
      `refresh token of ${newShop.registration.client_id}: 200`,
    )
    tokensOf(await flow.refresh(photoBook, third.refreshToken))
  })

  test('can end an authorization by a forged old refresh token, as its client, and get nothing for it', async () => {
    const there = await stage()
    const { third } = await story(there)
    const forged = tagKeysIn(await dumpOf(redis)).map(({ id, tagKey }) =>
      createRefreshToken(id, 0, tagKey, secureRandom),
    )
    expect(forged.length).toBeGreaterThan(3)
    for (const token of forged)
      expect(refusalOf(await there.flow.refresh(photoBook, token))).toBe('400 invalid_grant')
    expect((await there.flow.photos(third.accessToken)).status).toBe(401)
  })
})
