import { memoryStore } from '../../lib/index'
import { application } from '../support/flows/application'
import { nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { authorizationRequest } from '../support/flows/flow'
import { redirectionOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const noRoom = '429 temporarily_unavailable'

/** A server on a memory store with room for so many authorizations, and half as many requests. */
function small(maximumRecords: number) {
  const clock = new Clock()
  const store = memoryStore({ maximumRecords, clock: clock.read })
  return { ...application({ store, clock: clock.read }), clock }
}

describe('One client in the memory store', () => {
  test('has a quarter of its room, is told to come again, and leaves the rest to others [store-26]', async () => {
    const { flow, failures } = small(8)
    tokensOf(await flow.request(nightlyReport, grant))
    tokensOf(await flow.request(nightlyReport, grant))
    for (let more = 0; more < 20; more++) {
      const refused = await flow.request(nightlyReport, grant)
      expect(refusalOf(refused)).toBe(noRoom)
      expect(refused.headers['retry-after']).toBe('60')
    }
    expect(failures[0]).toMatchObject({ reason: 'client_share_full', clientId: 'nightly-report' })
    for (const owner of ['alice', 'bob']) await flow.tokens(photoBook, {}, owner)
    for (const owner of ['carol', 'dave']) await flow.tokens(photoPrint, {}, owner)
  })

  test('finds room again when a token is revoked', async () => {
    const { flow } = small(4)
    const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
    expect(refusalOf(await flow.request(nightlyReport, grant))).toBe(noRoom)
    expect((await flow.revoke(nightlyReport, accessToken)).status).toBe(200)
    tokensOf(await flow.request(nightlyReport, grant))
  })

  test('finds room again when its tokens have expired', async () => {
    const { flow, clock } = small(8)
    for (let token = 0; token < 2; token++) tokensOf(await flow.request(nightlyReport, grant))
    expect(refusalOf(await flow.request(nightlyReport, grant))).toBe(noRoom)
    clock.advance(3601)
    for (let token = 0; token < 2; token++) tokensOf(await flow.request(nightlyReport, grant))
  })

  test('goes on with the tokens that it has when its share is full', async () => {
    const { flow } = small(4)
    const { refreshToken } = await flow.tokens(photoPrint)
    expect((await flow.refresh(photoPrint, refreshToken)).status).toBe(200)
  })

  test('[AUZ-11] has a quarter of the room for requests that wait, denied ones too, and is told by redirect', async () => {
    const { flow, failures } = small(16)
    const asked = authorizationRequest(photoBook)
    for (const owner of ['alice', 'bob']) {
      const page = await flow.ask(asked, owner)
      redirectionOf(await flow.decide(page, 'deny', owner))
    }
    const { parameters } = redirectionOf(await flow.ask(asked, 'carol'))
    expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: asked.state })
    expect(failures).toMatchObject([
      { reason: 'owner_denied' },
      { reason: 'owner_denied' },
      { endpoint: 'authorization', reason: 'client_share_full' },
    ])
    expect((await flow.ask(authorizationRequest(photoPrint), 'carol')).status).toBe(200)
  })
})

test('One resource owner in the memory store has a quarter of its room, at all clients together', async () => {
  const { flow, failures } = small(16)
  for (const client of [photoBook, photoPrint, photoBook, photoPrint]) await flow.tokens(client)
  const page = await flow.ask(authorizationRequest(photoFrame), 'alice')
  const { parameters } = redirectionOf(await flow.decide(page, 'approve', 'alice'))
  expect(parameters).toMatchObject({ error: 'temporarily_unavailable' })
  expect(failures).toMatchObject([{ reason: 'owner_share_full' }])
  expect((await flow.tokens(photoFrame, {}, 'bob')).scope).toBe('photos:read')
})
