import request from 'supertest'
import { heardFrom, type Heard } from '../support/events'
import { application, mountAll, type Hosting } from '../support/flows/application'
import { photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, basic } from '../support/flows/flow'

const unprintable = /[\p{C}\p{Zl}\p{Zp}]/u

const hostile = [
  ['a second line', 'x\r\n{"event":"issued"}'],
  ['a lone line feed', 'x\nissued'],
  ['an escape sequence', '\u001B[2J\u001B[31mx'],
  ['an escape sequence of one C1 character', '\u009B31mx'],
  ['a zero byte', 'x\u0000y'],
  ['a line separator of Unicode', 'x\u2028y\u2029z'],
  ['a turn of the reading order', 'x\u202Eyalp'],
  ['half a character', `${'x'.repeat(254)}😀`],
  ['great length', 'x'.repeat(5000)],
] as const

const open = (mount: NonNullable<Hosting['mount']> = mountAll) => {
  const { app, oauth, flow } = application({}, { mount })
  return { app, flow, heard: heardFrom(oauth.events) }
}

/** The texts of events that no log should get. */
const harmfulIn = (heard: readonly Heard[]) =>
  heard
    .flatMap((event) => Object.values(event))
    .filter((value) => typeof value === 'string' && (value.length > 256 || unprintable.test(value)))

const trusting: Hosting['mount'] = (app, oauth) => {
  app.set('trust proxy', true)
  mountAll(app, oauth)
}

describe.each(hostile)('A client that names itself by %s', (_what, text) => {
  test('in a form is told of harmlessly [store-24]', async () => {
    const { flow, heard } = open()
    await flow.submit('/token', { client_id: text, client_secret: 'x', grant_type: text })
    expect(heard).toHaveLength(1)
    expect(harmfulIn(heard)).toEqual([])
    // One that is too long is refused before it names anybody.
    expect(heard[0]?.clientId?.length).toBe(text.length > 256 ? undefined : 8)
  })

  test('in a query is told of harmlessly', async () => {
    const { flow, heard } = open()
    await flow.ask({ ...authorizationRequest(photoBook), client_id: text }, 'alice')
    expect(heard).toHaveLength(1)
    expect(harmfulIn(heard)).toEqual([])
  })

  test('in Basic is told of harmlessly', async () => {
    const { flow, heard } = open()
    await flow.submit('/token', { grant_type: 'client_credentials' }, undefined, {
      Authorization: basic(text, 'x'),
    })
    expect(heard).toHaveLength(1)
    expect(harmfulIn(heard)).toEqual([])
  })
})

test.each([
  ['of great length', 'x'.repeat(5000)],
  ['of a C1 control character', 'x\u009B31m'],
])('an address that a client made up, %s, is told of harmlessly', async (_what, address) => {
  const { flow, heard } = open(trusting)
  await flow.submit('/token', { client_id: 'x', client_secret: 'y' }, undefined, {
    'X-Forwarded-For': address,
  })
  expect(heard).toHaveLength(1)
  expect(harmfulIn(heard)).toEqual([])
  expect(heard[0]?.address).toMatch(/^x/)
})

test('an id that the host echoes from the request is not taken when a terminal would obey it', async () => {
  const { app, heard } = open((host, oauth) => {
    host.use((req, response, next) =>
      next(void response.setHeader('X-Request-Id', req.get('X-Request-Id') ?? '')),
    )
    mountAll(host, oauth)
  })
  const sent = (id: string) => request(app).get('/authorize').set('X-Request-Id', id)
  const { headers } = await sent('x\u009B31m')
  expect(heard).toHaveLength(1)
  expect(harmfulIn(heard)).toEqual([])
  expect(headers['x-request-id']).toBe(heard[0]?.requestId)
  expect(headers['x-request-id']).toMatch(/^[0-9a-f]{16}$/)
  expect((await sent('from the host')).headers['x-request-id']).toBe('from the host')
})

test('a subject of the host is told of harmlessly, and its approval as ever', async () => {
  const subject = 'alice\nroot\u001B[0m'
  const { oauth, flow } = application({ resourceOwner: () => ({ subject }) })
  const heard = heardFrom(oauth.events)
  await flow.approve(photoPrint)
  expect(heard).toHaveLength(1)
  expect(harmfulIn(heard)).toEqual([])
  expect(heard[0]?.subject).toBe('alice\u{FFFD}root\u{FFFD}[0m')
})
