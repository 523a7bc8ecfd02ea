import express, { type Express, type RequestHandler } from 'express'
import request from 'supertest'
import { createAuthorizationServer } from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { photoBook } from '../support/flows/clients'

const original = authorizationRequest(photoBook)

/** The status of each answer to a browser whose login always leads back at once, until one is no redirect. */
async function walk(app: Express, between = () => {}): Promise<{ statuses: number[]; page: string }> {
  const statuses: number[] = []
  let path = `/authorize?${formOf(original)}`
  for (let i = 0; i < 8; i++) {
    const { status, headers, text } = await request(app).get(path)
    statuses.push(status)
    if (status !== 303) return { statuses, page: text }
    path = new URL(String(headers['location']), 'http://localhost').searchParams.get('return_to') ?? ''
    between()
  }
  return { statuses, page: '' }
}

let now = Date.parse('2026-11-23T12:00:00Z')
const session: RequestHandler = (req, _res, next) => next(void Object.assign(req, { session: {} }))

function appWith(environment = 'development', ...before: readonly RequestHandler[]) {
  const usual = process.env['NODE_ENV']
  process.env['NODE_ENV'] = environment
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const options = { ...canonicalOptions, resourceOwner: () => undefined, clock: () => now }
  const oauth = createAuthorizationServer(options)
  process.env['NODE_ENV'] = usual
  const reasons: string[] = []
  oauth.events.on('refused', ({ reason }) => reasons.push(reason))
  return { app: express().use(...before, oauth.router()), reasons }
}

afterEach(() => jest.restoreAllMocks())

describe('a login that does not reach the router', () => {
  test('ends at the third return with a page that says why and emits login_loop', async () => {
    const { app, reasons } = appWith()
    const { statuses, page } = await walk(app)
    expect(statuses).toEqual([303, 303, 303, 400])
    expect(page).toContain('mount the session middleware before oauth.router()')
    expect(reasons).toEqual(['login_loop'])
  })

  test('names the missing cookie if the request has a session', async () => {
    expect((await walk(appWith('development', session).app)).page).toContain('the browser sent no cookie')
  })

  test('ends in production, too, with a page that does not say what to mount', async () => {
    const usual = appWith('test')
    const { statuses, page } = await walk(usual.app)
    expect(statuses).toEqual([303, 303, 303, 400])
    expect(page).toContain('The login came back three times')
    expect(page).not.toContain('middleware')
  })
})

describe('an owner who is not logged in yet', () => {
  test('may open the same request in any number of tabs', async () => {
    const { app } = appWith()
    const statuses: number[] = []
    for (let tab = 0; tab < 5; tab++)
      statuses.push((await request(app).get('/authorize').query(original)).status)
    expect(statuses).toEqual(Array(5).fill(303))
  })

  test('may come back from the login without an owner as often as it takes longer than a minute', async () => {
    const { statuses } = await walk(appWith().app, () => (now += 31_000))
    expect(statuses).toEqual(Array(8).fill(303))
  })
})

test.each(['9.zzzzzzzz', '3.', '4.x'])('a forged count %j leads to the login', async (forged) => {
  const { app } = appWith()
  const { status } = await request(app)
    .get('/authorize')
    .query({ ...original, login_returns: forged })
  expect(status).toBe(303)
})

test('a request with 100 parameters still comes back valid', async () => {
  const { app } = appWith()
  const many = Object.fromEntries(
    Array.from({ length: 100 - Object.keys(original).length }, (_, i) => [`p${i}`, '1']),
  )
  const first = await request(app)
    .get('/authorize')
    .query({ ...original, ...many })
  const back = new URL(String(first.headers['location']), 'http://localhost').searchParams.get('return_to')
  expect((await request(app).get(String(back))).status).toBe(303)
})
