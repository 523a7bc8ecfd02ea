import {
  implicit,
  type AuthorizationServerOptions,
  type GrantType,
  type ServerLimitOptions,
} from '../../lib/index'
import { bent, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { fragmentOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const overLimit = '429 temporarily_unavailable'

/** An extension grant that counts its requests: a client that names an owner gets tokens for them. */
const named = 'https://photos.example/grants/named'
let proven = 0
const namedOwner: GrantType = {
  name: named,
  parameters: ['owner', 'scope'],
  async handle({ parameters }) {
    proven += 1
    const grantOf = { subject: parameters.require('owner'), scope: ['photos:read'], refreshToken: true }
    return { grant: { ...grantOf, extensionData: {} } }
  },
}
const gateway = bent(photoFrame, { client_id: 'gateway', grant_types: [named, 'refresh_token'] })
const slideshow = bent(photoBook, {
  client_id: 'slideshow',
  grant_types: ['implicit'],
  response_types: ['token'],
})
const clients = [photoBook, photoPrint, nightlyReport, gateway, slideshow].map(
  ({ registration }) => registration,
)

type Limits = ServerLimitOptions['issuing']
const host = { clients, grantTypes: [namedOwner], responseTypes: [implicit()] }
const withLimits = (stage: SetStage, issuing?: Limits, more: Partial<AuthorizationServerOptions> = {}) =>
  stage({
    ...host,
    ...more,
    limits: { ...more.limits, ...(issuing === undefined ? {} : { issuing }) },
  })
const three = { attempts: 3, seconds: 60 }

const report = ({ flow }: Stage) => flow.request(nightlyReport, grant)
const forOwner = ({ flow }: Stage, owner: string, client = gateway) =>
  flow.request(client, { grant_type: named, owner })
const inFragment = async ({ flow }: Stage, owner = 'alice') => {
  const asked = { ...authorizationRequest(slideshow), response_type: 'token' }
  const plain = { ...asked, code_challenge: undefined, code_challenge_method: undefined }
  return fragmentOf(await flow.decide(await flow.ask(plain, owner), 'approve', owner)).parameters
}

describeOnStores('What is issued to one client', (stage) => {
  test('is limited, and refills: the client gets Retry-After, nothing is written, others are served [store-27]', async () => {
    const set = withLimits(stage, { client: three })
    for (let token = 0; token < 3; token++) tokensOf(await report(set))
    const refused = await report(set)
    expect(refusalOf(refused)).toBe(overLimit)
    expect(refused.headers['retry-after']).toBe('20')
    expect(set.store.calls).toMatchObject({ find: 0, save: 3 })
    expect(set.failures).toMatchObject([
      { reason: 'client_issue_limited', clientId: 'nightly-report', retryAfter: 20 },
    ])
    expect((await set.flow.tokens(photoPrint)).scope).toBe('photos:read photos:print')
    set.clock.advance(20)
    tokensOf(await report(set))
    expect(refusalOf(await report(set))).toBe(overLimit)
  })

  test('is limited when all requests come at once', async () => {
    const set = withLimits(stage, { client: three })
    const answers = await Promise.all(Array.from({ length: 12 }, () => report(set)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9)
  })

  test('is the same count for codes and refreshes, and a code that is refused by it is still good', async () => {
    const set = withLimits(stage, { client: { attempts: 2, seconds: 60 } })
    const { refreshToken } = await set.flow.tokens(photoBook)
    const code = await set.flow.approve(photoBook)
    const second = tokensOf(await set.flow.refresh(photoBook, refreshToken)).refreshToken
    expect(refusalOf(await set.flow.redeem(photoBook, code))).toBe(overLimit)
    expect(refusalOf(await set.flow.refresh(photoBook, second))).toBe(overLimit)
    set.clock.advance(30)
    tokensOf(await set.flow.redeem(photoBook, code))
    expect(refusalOf(await set.flow.refresh(photoBook, second))).toBe(overLimit)
    set.clock.advance(30)
    tokensOf(await set.flow.refresh(photoBook, second))
  })

  test('is counted for an extension grant, which is not asked beyond the limit', async () => {
    const set = withLimits(stage, { client: three })
    const before = proven
    for (let token = 0; token < 3; token++) tokensOf(await forOwner(set, `owner ${token}`))
    expect(refusalOf(await forOwner(set, 'another'))).toBe(overLimit)
    expect(proven - before).toBe(3)
  })

  test('is counted at the authorization endpoint, which redirects beyond the limit; the page stays good', async () => {
    const set = withLimits(stage, { client: { attempts: 1, seconds: 60 } })
    expect(await inFragment(set)).toHaveProperty('access_token')
    const asked = { ...authorizationRequest(slideshow), response_type: 'token' }
    const page = await set.flow.ask(asked, 'bob')
    const { parameters } = fragmentOf(await set.flow.decide(page, 'approve', 'bob'))
    expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: asked.state })
    expect(parameters).not.toHaveProperty('access_token')
    expect(set.failures).toMatchObject([{ endpoint: 'authorization', reason: 'client_issue_limited' }])
    set.clock.advance(60)
    const again = fragmentOf(await set.flow.decide(page, 'approve', 'bob'))
    expect(again.parameters).toHaveProperty('access_token')
  })

  test('is nothing for a request that fails: no stranger uses up the count of a public client', async () => {
    const set = withLimits(stage, { client: { attempts: 2, seconds: 60 }, owner: false })
    const { refreshToken } = await set.flow.tokens(photoBook)
    for (let guess = 0; guess < 5; guess++) {
      expect(refusalOf(await set.flow.redeem(photoBook, `ac_${'x'.repeat(64)}`))).toBe('400 invalid_grant')
      expect(refusalOf(await set.flow.refresh(photoBook, `rt_${'x'.repeat(80)}`))).toBe('400 invalid_grant')
    }
    tokensOf(await set.flow.refresh(photoBook, refreshToken))
  })

  test('counts one for a refresh whose answer is given again', async () => {
    const set = withLimits(stage, { client: three })
    const { refreshToken } = await set.flow.tokens(photoBook)
    for (let again = 0; again < 6; again++) tokensOf(await set.flow.refresh(photoBook, refreshToken))
    tokensOf(await report(set))
    tokensOf(await set.flow.redeem(photoBook, await set.flow.approve(photoBook)))
    expect(refusalOf(await set.flow.refresh(photoBook, refreshToken))).toBe(overLimit)
  })

  test('shuts out no network: beyond the limit nothing counts as a failure', async () => {
    const set = withLimits(stage, { client: three }, { limits: { networks: { clients: { attempts: 2 } } } })
    for (let token = 0; token < 3; token++) tokensOf(await report(set))
    for (let more = 0; more < 5; more++)
      expect((await report(set)).body.error_description).toMatch('Too many tokens')
    expect((await set.flow.tokens(photoPrint)).scope).toBe('photos:read photos:print')
  })
})

describeOnStores('What is issued for one resource owner', (stage) => {
  test('is limited for each client apart, so that no client shuts an owner out of others', async () => {
    const set = withLimits(stage, { owner: three })
    let { refreshToken } = await set.flow.tokens(photoBook)
    for (let again = 0; again < 2; again++)
      refreshToken = tokensOf(await set.flow.refresh(photoBook, refreshToken)).refreshToken
    const refused = await set.flow.refresh(photoBook, refreshToken)
    expect(refusalOf(refused)).toBe(overLimit)
    expect(refused.headers['retry-after']).toBe('20')
    expect(set.failures).toMatchObject([{ reason: 'owner_issue_limited' }])
    expect((await set.flow.tokens(photoPrint)).scope).toBe('photos:read photos:print')
    expect((await set.flow.tokens(photoBook, {}, 'bob')).scope).toBe('photos:read photos:print')
    set.clock.advance(20)
    tokensOf(await set.flow.refresh(photoBook, refreshToken))
  })

  test('leaves what one client has to its other owners [store-28]', async () => {
    const set = withLimits(stage, { client: { attempts: 5, seconds: 60 }, owner: three })
    for (let more = 0; more < 4; more++) await forOwner(set, 'mallory')
    tokensOf(await forOwner(set, 'alice'))
    tokensOf(await forOwner(set, 'bob'))
    expect(refusalOf(await forOwner(set, 'carol'))).toBe(overLimit)
  })

  test('is counted apart, however long their names are', async () => {
    const set = withLimits(stage, { owner: three })
    const long = 'x'.repeat(1023)
    for (let token = 0; token < 3; token++) tokensOf(await forOwner(set, `${long}1`))
    expect(refusalOf(await forOwner(set, `${long}1`))).toBe(overLimit)
    tokensOf(await forOwner(set, `${long}2`))
  })
})

test('600 tokens a minute for one owner at one client are the limit by default, and more for the client', async () => {
  const set = setStage(host)
  const answers = await Promise.all(Array.from({ length: 601 }, () => forOwner(set, 'alice')))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(600)
  expect((await forOwner(set, 'bob')).status).toBe(200)
})

test('A clock that is set back makes no client wait longer for tokens', async () => {
  const set = setStage({ ...host, limits: { issuing: { client: three } } })
  for (let token = 0; token < 3; token++) tokensOf(await report(set))
  set.clock.advance(-3600)
  expect((await report(set)).headers['retry-after']).toBe('20')
  set.clock.advance(20)
  tokensOf(await report(set))
})
