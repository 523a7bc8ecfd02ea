import bcrypt from 'bcrypt'
import { createServer } from 'node:http'
import type { ClientAuthenticationMethod } from '../../lib/index'
import { said, spoken, whileListening } from '../support/created-server/spoken'
import { application } from '../support/flows/application'
import { bent, everyClient, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, basic, type Flow, formOf } from '../support/flows/flow'
import { come, from, guess, limited, noGrant, proven, right, trusting } from '../support/flows/guesses'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { watchedCounters } from '../support/watched-counters'

const two = { limits: { networks: { clients: { attempts: 2, seconds: 60 } } } }
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const { client_id } = nightlyReport.registration
const client_secret = nightlyReport.secret
const crossSite = {
  Origin: 'https://evil.example',
  'Sec-Fetch-Site': 'cross-site',
  'Sec-Fetch-Mode': 'navigate',
}

/** Uses up the failures of the network. */
const exhaust = async (flow: Flow) => {
  for (let time = 0; time < 2; time++) await guess(flow, 'nobody')
  expect(await guess(flow, 'nobody')).toBe(limited)
}

/** A request with a head alone: what it says of its body never comes. */
const head = (framing: string, authorization: string) =>
  said('POST', '/token', [
    'Content-Type: application/x-www-form-urlencoded',
    framing,
    `Authorization: ${authorization}`,
  ])

const keyed = bent(nightlyReport, {
  client_id: 'keyed',
  client_secret_hashes: [],
  credentials: { 'urn:example:key': 'kept' },
})
const key: ClientAuthenticationMethod = {
  name: 'urn:example:key',
  read: ({ body }) => (body.get('key') === undefined ? undefined : { clientId: 'keyed', credential: 'x' }),
  verify: async (client, _credential) => client !== undefined,
}

describe('Once a network has used up its failures', () => {
  test('by forms that a web page sends across sites, a right generated secret passes [store-31]', async () => {
    const { flow } = application(two)
    for (let time = 0; time < 2; time++)
      expect((await flow.submit('/token', 'a=1', undefined, crossSite)).status).toBe(401)
    expect((await flow.submit('/token', 'a=1', undefined, crossSite)).status).toBe(429)
    const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
    tokensOf(await flow.submit('/token', { ...grant, client_id, client_secret }))
    expect(await right(flow)).toBe(proven)
    expect((await flow.revoke(nightlyReport, accessToken)).status).toBe(200)
    expect(refusalOf(await flow.introspect(nightlyReport, accessToken))).not.toBe(limited)
  })

  test('a right key passes', async () => {
    const { flow } = application({
      ...two,
      clients: [...everyClient, keyed].map(({ registration }) => registration),
      plugins: [{ name: 'host-methods', clientAuthenticationMethods: [key] }],
    })
    await exhaust(flow)
    expect((await flow.submit('/token', { ...grant, key: 'x' })).status).toBe(200)
  })

  test('a chosen secret passes from the network where this process has verified it, and from no other [store-33]', async () => {
    const set = application(two, trusting)
    const [home, elsewhere] = [from(set, '192.0.2.7'), from(set, '192.0.2.8')]
    expect(await right(home, photoFrame)).toBe(proven)
    await exhaust(home)
    await exhaust(elsewhere)
    expect(await right(home, photoFrame)).toBe(proven)
    expect(await right(elsewhere, photoFrame)).toBe(limited)
    expect(await guess(home, 'photo-frame')).toBe(limited)
  })

  test('one answer refuses a wrong secret, an unknown client, a public one and a malformed request', async () => {
    const { flow, failures } = application(two)
    await exhaust(flow)
    const answers = [
      await come(flow, 'photo-print', 'guess'),
      await come(flow, 'photo-frame', photoFrame.secret),
      await come(flow, 'nobody', 'guess'),
      await flow.request(photoBook, noGrant),
      await flow.submit('/token', { ...noGrant, client_id: 'nobody' }),
      await flow.submit('/token', 'a=1&a=1'),
      await flow.submit('/token', {}),
    ]
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(await guess(flow)).toBe(limited)
    expect(new Set(failures.slice(2).map(({ reason }) => reason))).toEqual(new Set(['rate_limited']))
  })

  test('nothing of a guess is counted or compared by bcrypt [store-32]', async () => {
    const { keys, counters } = watchedCounters()
    const { flow } = application({ ...two, counters })
    await exhaust(flow)
    const counted = keys.length
    const compare = jest.spyOn(bcrypt, 'compare')
    for (const clientId of ['photo-print', 'photo-frame', 'nobody'])
      expect(await guess(flow, clientId)).toBe(limited)
    expect(compare).not.toHaveBeenCalled()
    expect(keys).toHaveLength(counted)
    compare.mockRestore()
  })

  test.each(['Content-Length: 60000', 'Transfer-Encoding: chunked'])(
    'a body of %s is not waited for, and the connection ends',
    async (framing) => {
      const { app, flow } = application(two)
      await exhaust(flow)
      const answer = await whileListening(createServer(app), (port) =>
        spoken(port, head(framing, basic(client_id, 'guess'))),
      )
      expect(answer).toMatch(/^HTTP\/1\.1 429 [^]*\r\nConnection: close\r\n[^]*"temporarily_unavailable"/)
    },
  )

  test('a body of 16 KiB is read in any case, and one byte more is not', async () => {
    const { app, flow } = application(two)
    await exhaust(flow)
    const body = (bytes: number) =>
      formOf({ ...grant, client_id, client_secret, filler: '' }).padEnd(bytes, 'x')
    const statuses: string[] = []
    for (const bytes of [16 * 1024, 16 * 1024 + 1]) {
      const type = 'Content-Type: application/x-www-form-urlencoded'
      const words =
        said('POST', '/token', [type, 'Connection: close', `Content-Length: ${bytes}`]) + body(bytes)
      const answer = await whileListening(createServer(app), (port) => spoken(port, words))
      statuses.push(answer.slice(9, 12))
    }
    expect(statuses).toEqual(['200', '429'])
  })

  test('a long body is read of a client that the header has proven', async () => {
    const { app, flow } = application(two)
    await exhaust(flow)
    const body = formOf({ ...grant, filler: 'x'.repeat(60_000) })
    for (const [framing, sent] of [
      [`Content-Length: ${body.length}`, body],
      ['Transfer-Encoding: chunked', `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
    ]) {
      const words = head(`Connection: close\r\n${framing}`, basic(client_id, client_secret)) + sent
      const answer = await whileListening(createServer(app), (port) => spoken(port, words))
      expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*"access_token"/)
    }
  })

  test('a header that proves the client does not hide a second method in the body', async () => {
    const { app, flow } = application(two)
    await exhaust(flow)
    const body = formOf({ ...grant, client_id, client_secret, filler: 'x'.repeat(60_000) })
    const words = head(`Connection: close\r\nContent-Length: ${body.length}`, basic(client_id, client_secret))
    const answer = await whileListening(createServer(app), (port) => spoken(port, words + body))
    expect(answer).toMatch(/^HTTP\/1\.1 429 /)
  })
})

test('What a proven client fails with counts, and is never answered by the limit', async () => {
  const { flow } = application(two)
  for (let time = 0; time < 4; time++) expect(await right(flow, photoPrint)).toBe(proven)
  expect(await guess(flow)).toBe(limited)
})

const asked = authorizationRequest(photoBook)
const three = { limits: { openRequests: { attempts: 3 } } }

describeOnStores('Unanswered consent pages', (stage) => {
  const opened = (set: ReturnType<typeof stage>, owner = 'alice') => set.flow.ask(asked, owner)
  const fill = async (set: ReturnType<typeof stage>, count = 3) => {
    for (let page = 0; page < count; page++) expect((await opened(set)).status).toBe(200)
  }

  test('are limited: the owner gets Retry-After, is not redirected, and another owner has no part in it', async () => {
    const set = stage(three)
    await fill(set)
    const refused = await opened(set)
    expect(errorPageOf(refused)).toBe('429 temporarily_unavailable')
    expect(refused.headers).toMatchObject({ 'retry-after': '600', 'cache-control': 'no-store' })
    expect(refused.headers).not.toHaveProperty('location')
    expect(set.failures).toMatchObject([{ endpoint: 'authorization', reason: 'too_many_open_requests' }])
    expect((await opened(set, 'bob')).status).toBe(200)
    // A refused request is no open one.
    for (let page = 0; page < 4; page++)
      redirectionOf(await set.flow.ask({ ...asked, scope: 'unheard-of' }, 'carol'))
    expect((await opened(set, 'carol')).status).toBe(200)
  })

  test('are limited to 100 unless the host says otherwise', async () => {
    const set = stage()
    await fill(set, 100)
    expect((await opened(set)).status).toBe(429)
  })

  test('are limited when they come all at once, too [store-23]', async () => {
    const set = stage(three)
    const answers = await Promise.all(Array.from({ length: 12 }, () => opened(set)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9)
  })

  test('are forgotten when they have expired, refused ones at once', async () => {
    const set = stage(three)
    await fill(set)
    for (let again = 0; again < 5; again++) expect((await opened(set)).status).toBe(429)
    set.clock.advance(601)
    await fill(set)
    expect((await opened(set)).status).toBe(429)
  })

  test('cost their owner no longer wait when the clock is set back', async () => {
    const set = stage(three)
    await fill(set)
    set.clock.advance(-3600)
    expect((await opened(set)).headers['retry-after']).toBe('600')
    set.clock.advance(599)
    expect((await opened(set)).headers['retry-after']).toBe('1')
    set.clock.advance(1)
    await fill(set)
  })

  test('are no longer open when they were approved, which counts once', async () => {
    const set = stage(three)
    await fill(set, 2)
    for (let round = 0; round < 3; round++)
      codeOf(await set.flow.decide(await opened(set), 'approve', 'alice'))
    const page = await opened(set)
    await Promise.all(Array.from({ length: 4 }, () => set.flow.decide(page, 'approve', 'alice')))
    expect((await opened(set)).status).toBe(200)
    expect((await opened(set)).status).toBe(429)
  })

  test('stay counted when they were denied, as long as they stay in the store', async () => {
    const set = stage(three)
    for (let page = 0; page < 3; page++)
      redirectionOf(await set.flow.decide(await opened(set), 'deny', 'alice'))
    expect((await opened(set)).status).toBe(429)
  })

  test('that the store did not keep are not counted', async () => {
    const set = stage(three)
    const { write } = set.store
    set.store.write = () => Promise.reject(new Error('down'))
    for (let page = 0; page < 5; page++)
      expect(redirectionOf(await opened(set)).parameters['error']).toBe('temporarily_unavailable')
    set.store.write = write
    await fill(set)
  })

  test('are not limited where the host switches it off', async () => {
    const set = stage({ limits: { openRequests: false } })
    await fill(set, 101)
    expect((await opened(set)).status).toBe(200)
  })
})
