import {
  backchannelApproval,
  backchannelGrant,
  type Question,
} from '../../docs/examples/backchannel-approval'
import type { AuthorizationServerOptions } from '../../lib/index'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import type { Fields } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'

const counter = bent(photoPrint, {
  client_id: 'counter',
  grant_types: [backchannelGrant, 'refresh_token'],
  redirect_uris: [],
  response_types: [],
})
const other = bent(nightlyReport, { client_id: 'other', grant_types: [backchannelGrant] })
const kiosk = bent(photoBook, { client_id: 'kiosk', grant_types: [backchannelGrant] })
const path = '/backchannel_authentication'
const wanted = { scope: 'photos:read', login_hint: 'alice@example.com', binding_message: 'W4SC' }

/** A client that has asked, and the owner's device with the questions that reached it. */
async function open(options: Partial<AuthorizationServerOptions> = {}, fields: Fields = {}) {
  const asked: Question[] = []
  const { plugin, decide } = backchannelApproval({
    findOwner: async (hint) => /^(.*)@example\.com$/.exec(hint)?.[1],
    ask: async (question) => void asked.push(question),
  })
  const clients = [counter, other, kiosk, nightlyReport].map(({ registration }) => registration)
  const stage = setStage({ clients, plugins: [plugin], ...options })
  const { flow, clock } = stage
  const request = (bend: Fields = {}, client = counter) => flow.request(client, { ...wanted, ...bend }, path)
  const { body } = await request(fields)
  const poll = async (seconds = 5, client = counter, auth_req_id = body.auth_req_id) => {
    clock.advance(seconds)
    return flow.request(client, { grant_type: backchannelGrant, auth_req_id })
  }
  const error = async (...given: Parameters<typeof poll>) => (await poll(...given)).body.error
  const answer = (approved: boolean, subject = 'alice') => decide(asked[0]?.id ?? '', subject, approved)
  return { ...stage, asked, body, request, poll, error, answer, decide }
}

test('an approval at the device brings tokens of the owner, which can be refreshed', async () => {
  const { flow, asked, body, error, answer, poll } = await open()
  expect(body).toEqual({ auth_req_id: expect.any(String), expires_in: 120, interval: 5 })
  const { id: _id, ...question } = asked[0]!
  const scope = ['photos:read']
  expect(question).toEqual({
    subject: 'alice',
    clientId: 'counter',
    scope,
    facts: [],
    bindingMessage: 'W4SC',
  })
  expect(await error()).toBe('authorization_pending')
  expect(await answer(true)).toBe(true)
  const { access_token, refresh_token } = (await poll()).body
  expect((await flow.photos(access_token)).body).toMatchObject({
    subject: 'alice',
    clientId: 'counter',
    scope,
  })
  expect((await flow.refresh(counter, refresh_token)).status).toBe(200)
})

test('a denial ends the request, and no later approval counts', async () => {
  const { error, answer } = await open()
  expect([await answer(false), await answer(true)]).toEqual([true, false])
  expect(await error()).toBe('access_denied')
})

test('a poll before its time is told to slow down, for good', async () => {
  const { error, answer, poll } = await open()
  const told = []
  for (const seconds of [5, 1, 2, 6, 14]) told.push(await error(seconds))
  const [pending, slow] = ['authorization_pending', 'slow_down']
  expect(told).toEqual([pending, pending, slow, slow, pending])
  await answer(true)
  expect((await poll(0)).status).toBe(200)
})

test('a request ends, and no approval comes too late', async () => {
  const { error, answer } = await open()
  expect(await error(120)).toBe('expired_token')
  expect(await answer(true)).toBe(false)
})

test('neither another owner decides nor another client gets the tokens', async () => {
  const { error, answer, poll } = await open()
  expect(await answer(true, 'mallory')).toBe(false)
  await answer(true)
  expect(await error(5, other)).toBe('invalid_grant')
  expect(await error(5, counter, 'rh_x')).toBe('invalid_grant')
  expect((await poll()).status).toBe(200)
})

test('two polls at once and a repeated one get the same tokens, and a late one gets none', async () => {
  const { answer, poll, flow, error } = await open()
  await answer(true)
  const [one, two] = await Promise.all([poll(0), poll(0)])
  const again = await poll(5)
  const tokens = [one, two, again].map(({ body }) => body.access_token)
  expect(tokens).toEqual(tokens.map(() => expect.stringMatching(/^at_/)))
  expect(new Set(tokens).size).toBe(1)
  expect(await error(3600 / 2)).toBe('invalid_grant')
  expect((await flow.photos(tokens[0])).status).toBe(200)
})

test('the owner reads the resource of the request, and no poll gets another one', async () => {
  const [wantedApi, otherApi] = ['https://photos.example/', 'https://albums.example/']
  const resources = { [wantedApi]: { scopes: ['photos:read'] }, [otherApi]: { scopes: ['photos:read'] } }
  const { asked, answer, flow, body } = await open(
    { resources, defaultResource: wantedApi },
    { resource: wantedApi },
  )
  expect(asked[0]?.facts).toMatchObject([{ name: 'resource', values: [{ value: wantedApi }] }])
  await answer(true)
  const poll = { grant_type: backchannelGrant, auth_req_id: body.auth_req_id }
  expect((await flow.request(counter, { ...poll, resource: otherApi })).body.error).toBe('invalid_target')
  expect((await flow.request(counter, { ...poll, resource: wantedApi })).status).toBe(200)
})

test('of an approval and a denial at once, one counts', async () => {
  const { answer, error } = await open()
  const [approved, denied] = await Promise.all([answer(true), answer(false)])
  expect([approved, denied].filter(Boolean)).toHaveLength(1)
  expect(await error()).toBe(approved ? undefined : 'access_denied')
})

test.each<[string, string, Fields, typeof counter]>([
  ['an owner whom nobody knows', 'unknown_user_id', { login_hint: 'x' }, counter],
  ['no owner', 'invalid_request', { login_hint: undefined }, counter],
  ['a message with markup', 'invalid_binding_message', { binding_message: '<b>' }, counter],
  ['a scope of another', 'invalid_scope', { scope: 'reports:write' }, counter],
  ['a client without the grant', 'unauthorized_client', {}, nightlyReport],
  ['a public client', 'unauthorized_client', {}, kiosk],
])('a request with %s asks nobody', async (_, error, bend, client) => {
  const { asked, request } = await open()
  expect((await request(bend, client)).body.error).toBe(error)
  expect(asked).toHaveLength(1)
})
