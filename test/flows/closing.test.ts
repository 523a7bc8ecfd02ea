import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AuthorizationServer } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import express, { type RequestHandler } from 'express'
import type { Response } from 'supertest'
import { whileListening } from '../support/created-server/spoken'
import { mountAll } from '../support/flows/application'
import { nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { authorizationRequest, Flow, type Fields } from '../support/flows/flow'
import { Gate } from '../support/flows/gate'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'
import { waitUntil } from '../support/wait-until'

const grant: Fields = { grant_type: 'client_credentials', scope: 'photos:read' }

/** A server whose endpoints take their time, as soon as they are told to. */
function slow(stage: SetStage, seconds = 60) {
  const gate = new Gate()
  const pace = { slow: false }
  const maintenance = async () => {
    if (pace.slow) await gate.pass()
    return false
  }
  return { ...stage({ maintenance, closeDeadline: seconds }), gate, pace }
}

/** Whether the closing is over yet. */
function closingOf(oauth: Pick<AuthorizationServer, 'close'>) {
  const closing = { over: false, promise: oauth.close() }
  void closing.promise.then(() => (closing.over = true))
  return closing
}

const endings = ({ headers }: Response) => [headers['connection'], headers['retry-after']]
const inFull = (response: Response) => [outcomeOf(response), endings(response)]

/** A middleware of the host's that takes its time. */
const waitAt =
  (gate: Gate): RequestHandler =>
  (_request, _response, next) =>
    void gate.pass().then(() => next())

const tellDone: RequestHandler = (_request, response) => void response.json({ done: true })

describeOnStores('Closing', (stage) => {
  test('lets 50 requests in flight finish, and turns new ones away at every door', async () => {
    const { flow, oauth, gate, pace, failures } = slow(stage)
    const { accessToken } = await flow.tokens(photoBook)
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    pace.slow = true
    const inFlight = Array.from({ length: 50 }, () => flow.request(nightlyReport, grant))
    const early = Promise.all(inFlight)
    await waitUntil('all are in flight', async () => gate.waiting === 50)

    const closing = closingOf(oauth)
    const turnedAway = [
      await flow.request(nightlyReport, grant),
      await flow.refresh(photoBook, `rt_${'A'.repeat(82)}`),
      await flow.revoke(photoPrint, accessToken),
      await flow.introspect(photoPrint, accessToken),
      await flow.photos(accessToken),
      await flow.photos(''),
      await flow.decide(page, 'approve', 'alice'),
    ]
    expect(turnedAway.map(inFull)).toEqual([
      ...Array.from({ length: 2 }, () => ['400 temporarily_unavailable', ['close', '1']]),
      ...Array.from({ length: 4 }, () => ['503 temporarily_unavailable', ['close', '1']]),
      ['page 503 temporarily_unavailable', ['close', '1']],
    ])
    const asked = await flow.ask(authorizationRequest(photoBook), 'alice')
    expect(redirectionOf(asked).parameters['error']).toBe('temporarily_unavailable')
    // RFC 9110 10.2.3: on a redirect it would ask the user agent to wait before it follows.
    expect(endings(asked)).toEqual(['close', undefined])
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(new Set(['closing']))

    expect(closing.over).toBe(false)
    gate.open()
    for (const response of await early) expect(tokensOf(response).scope).toBe('photos:read')
    await closing.promise
  })

  test('spends nothing of what it turns away', async () => {
    const { flow, oauth, store, clock } = stage()
    const code = await flow.approve(photoBook)
    await Promise.all([oauth.close(), oauth.close()])
    expect(outcomeOf(await flow.redeem(photoBook, code))).toBe('400 temporarily_unavailable')
    expect((await flow.open('/.well-known/oauth-authorization-server')).status).toBe(200)
    const another = stage({ store, clock: clock.read })
    expect(tokensOf(await another.flow.redeem(photoBook, code)).scope).toBe('photos:read photos:print')
  })

  test('lets a request through every part that it came for', async () => {
    const gate = new Gate()
    const { flow, oauth } = stage(undefined, {
      mount: (app, parts) => {
        app.post('/token', parts.clientAuthentication(), waitAt(gate), parts.token())
      },
    })
    const answer = flow.request(nightlyReport, grant)
    await waitUntil('it is between two parts', async () => gate.waiting === 1)
    const closing = closingOf(oauth)
    gate.open()
    expect(tokensOf(await answer).scope).toBe('photos:read')
    await closing.promise
  })

  test('waits for a guarded route, however many guards it has', async () => {
    const gate = new Gate()
    const { flow, oauth } = stage(undefined, {
      mount: (app, parts) => {
        app.get(
          '/slow',
          parts.bearerGuard(),
          waitAt(gate),
          parts.bearerGuard('photos:read'),
          (_, response) => {
            response.json({ done: true })
          },
        )
        mountAll(app, parts)
      },
    })
    const { accessToken } = await flow.tokens(photoBook)
    const headers = { Authorization: `Bearer ${accessToken}` }
    const answer = flow.open('/slow', undefined, headers)
    await waitUntil('it is between two guards', async () => gate.waiting === 1)
    const closing = closingOf(oauth)
    expect(outcomeOf(await flow.photos(accessToken))).toBe('503 temporarily_unavailable')
    expect(closing.over).toBe(false)
    gate.open()
    expect((await answer).body).toEqual({ done: true })
    await closing.promise
  })

  test('waits for the request that is left, when another went away over a connection that was kept', async () => {
    const gate = new Gate()
    const { app, flow, oauth } = stage(
      { closeDeadline: 60 },
      {
        mount: (host, parts) => {
          host.get('/slow', parts.bearerGuard(), waitAt(gate), tellDone)
          mountAll(host, parts)
        },
      },
    )
    const { accessToken } = await flow.tokens(photoBook)
    const get = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${accessToken}\r\n\r\n`
    await whileListening(createServer({ keepAliveTimeout: 0 }, app), async (port) => {
      const open = () => connect(port, '127.0.0.1').on('error', () => undefined)
      const [leaving, staying] = [open(), open()]
      leaving.write(get('/photos'))
      await once(leaving, 'data')
      leaving.write(get('/slow'))
      await waitUntil('it is in flight', async () => gate.waiting === 1)
      leaving.destroy()
      staying.write(get('/slow'))
      await waitUntil('the other one is in flight', async () => gate.waiting === 2)
      const closing = closingOf(oauth)
      expect(outcomeOf(await flow.photos(accessToken))).toBe('503 temporarily_unavailable')
      expect(closing.over).toBe(false)
      gate.open()
      await waitUntil('the closing is over', async () => closing.over, 30)
    })
  })

  test('waits no longer than closeDeadline, and the late one is still answered', async () => {
    const { flow, oauth, gate, pace } = slow(stage, 0.05)
    pace.slow = true
    const late = flow.request(nightlyReport, grant)
    await waitUntil('it is in flight', async () => gate.waiting === 1)
    await oauth.close()
    gate.open()
    expect(tokensOf(await late).scope).toBe('photos:read')
  })

  test('ends the guards of another application by their own close()', async () => {
    const { store, clock, flow, oauth } = stage()
    const guard = createBearerGuard({
      issuer: 'http://localhost',
      store,
      clock: clock.read,
      storeDeadline: 10,
    })
    const app = express().get('/photos', guard(), (_request, response) => void response.json({}))
    const remote = new Flow(app)
    const { accessToken } = await flow.tokens(photoBook)
    await oauth.close()
    expect((await remote.photos(accessToken)).status).toBe(200)
    await guard.close()
    const response = await remote.photos(accessToken)
    expect(inFull(response)).toEqual(['503 temporarily_unavailable', ['close', '1']])
  })
})

describeOnStores('A server is ready', (stage) => {
  test('while its store answers, until it closes', async () => {
    const { oauth, store } = stage({ storeDeadline: 0.05 })
    const ready: boolean[] = []
    const look = async () => ready.push(await oauth.ready())
    store.begin('fails', 'read')
    await look()
    store.begin('hangs', 'read')
    await look()
    store.recover()
    await waitUntil('it answers', () => oauth.ready())
    await oauth.close()
    await look()
    expect(ready).toEqual([false, false, false])
  })

  test('not any more when it closes while the store is asked', async () => {
    const { oauth } = stage()
    const asked = oauth.ready()
    const closed = oauth.close()
    expect(await asked).toBe(false)
    await closed
  })

  test('and so is a standalone guard', async () => {
    const { store } = stage()
    const guard = createBearerGuard({ issuer: 'http://localhost', store, storeDeadline: 10 })
    expect(await guard.ready()).toBe(true)
    await guard.close()
    expect(await guard.ready()).toBe(false)
  })
})
