import express from 'express'
import type { Store } from '../../../lib/index'
import { createBearerGuard } from '../../../lib/paths/guards'
import { application } from '../../support/flows/application'
import { nightlyReport, photoBook } from '../../support/flows/clients'
import { authorizationRequest, Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { tokensOf } from '../../support/flows/tokens'
import { interruptible, type Interruptible } from '../../support/stores/interruptible'
import { waitUntil } from '../../support/wait-until'

declare const storesOfRun: readonly (keyof typeof interruptible)[]

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const asked = authorizationRequest(photoBook)
const unknownCode = `ac_${'A'.repeat(65)}`
const unknownToken = `at_${'A'.repeat(65)}`
// A database that stalls takes longer, and a busy machine does not.
const storeDeadline = 2

const refusals = {
  ask: 'redirect temporarily_unavailable',
  grant: '400 temporarily_unavailable',
  redeem: '400 temporarily_unavailable',
  photos: '503 temporarily_unavailable',
}

async function outcomesOf(flow: Flow, accessToken: string) {
  const [ask, granted, redeem, photos] = await Promise.all([
    flow.ask(asked, 'alice'),
    flow.request(nightlyReport, grant),
    flow.redeem(photoBook, unknownCode),
    flow.photos(accessToken),
  ])
  return {
    ask: outcomeOf(ask),
    grant: outcomeOf(granted),
    redeem: outcomeOf(redeem),
    photos: photos.status === 200 ? '200' : outcomeOf(photos),
  }
}

describe.each(storesOfRun)('An outage of %s', (name) => {
  let database: Interruptible
  let stores: Store[]
  const open = () => {
    const store = database.open()
    stores.push(store)
    return store
  }
  beforeEach(async () => {
    stores = []
    database = await interruptible[name]()
  })
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close?.()))
    await database.stop()
  })

  test('that stalls is answered for within the deadline, and nothing is lost when it goes on', async () => {
    const { flow } = application({ store: open(), storeDeadline })
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const page = await flow.ask(asked, 'alice')
    await database.stall()
    expect(await outcomesOf(flow, accessToken)).toEqual({
      ...refusals,
      ...(database.readsOn && { redeem: '400 invalid_grant', photos: '200' }),
    })
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect temporarily_unavailable')
    await database.goOn()
    await waitUntil('it answers', async () => (await flow.photos(accessToken)).status === 200)
    expect(tokensOf(await flow.refresh(photoBook, refreshToken)).scope).toBe(asked.scope)
  })

  test('that is gone is answered for within the deadline, and used again when it is back', async () => {
    const { flow } = application({ store: open(), storeDeadline })
    const { accessToken } = await flow.tokens(photoBook)
    await database.leave()
    expect(await outcomesOf(flow, accessToken)).toEqual(refusals)
    await database.comeBack()
    const expected = database.keeps ? 200 : 401
    await waitUntil('it answers', async () => (await flow.photos(accessToken)).status === expected)
    expect((await flow.tokens(photoBook)).scope).toBe(asked.scope)
  })

  test('at the start of a server is answered for, which is ready as soon as the database is there', async () => {
    await (database.readsOn ? database.stall() : database.leave())
    const { flow, oauth } = application({ store: open() })
    const guard = createBearerGuard({ issuer: 'http://localhost', store: open() })
    const remote = new Flow(
      express().get('/photos', guard(), (request, response) => void response.json(request.oauth)),
    )
    expect(await outcomesOf(flow, unknownToken)).toEqual(refusals)
    expect([outcomeOf(await remote.photos(unknownToken)), await oauth.ready(), await guard.ready()]).toEqual([
      refusals.photos,
      false,
      false,
    ])
    await (database.readsOn ? database.goOn() : database.comeBack())
    await waitUntil('both are ready', async () => (await oauth.ready()) && guard.ready())
    const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
    for (const each of [flow, remote]) expect((await each.photos(accessToken)).status).toBe(200)
    expect((await flow.tokens(photoBook)).scope).toBe(asked.scope)
    await Promise.all([oauth.close(), guard.close()])
  })
})
