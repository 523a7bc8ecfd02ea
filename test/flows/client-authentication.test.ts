import { nightlyReport, photoBook } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { basic, formOf, redemption, type Fields, type Headers } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { rawRequest } from '../support/flows/raw-request'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const { client_id } = nightlyReport.registration
const client_secret = nightlyReport.secret
const Authorization = basic(client_id, client_secret)
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const challenge = 'Basic realm="oauth", charset="UTF-8"'
const foreign = { Authorization: 'Digest a="b"' }

const ask = ({ flow }: Stage, fields: Fields, headers: Headers = {}) =>
  flow.submit('/token', fields, undefined, headers)

describeOnStores('A confidential client', (stage) => {
  test('that leaves its secret empty in the body authenticates by Basic', async () => {
    const response = await ask(stage(), { ...grant, client_secret: '' }, { Authorization })
    expect(tokensOf(response).scope).toBe('photos:read')
  })

  test('is refused by another scheme, and by an empty secret beside another one', async () => {
    const set = stage()
    const inBody = { ...grant, client_id, client_secret }
    for (const [fields, headers, refusal] of [
      [inBody, { Authorization: basic(client_id, '') }, '400 invalid_request'],
      [inBody, foreign, '400 invalid_request'],
      [{ ...grant, client_id }, foreign, '401 invalid_client'],
    ] as const) {
      const response = await ask(set, fields, headers)
      expect(refusalOf(response)).toBe(refusal)
      expect(response.get('WWW-Authenticate')).toBe(response.status === 401 ? challenge : undefined)
    }
  })

  test.each([
    ['two good', Authorization, Authorization],
    ['a good and a foreign', Authorization, 'Bearer abc'],
    ['an empty and a good', '', Authorization],
  ])('that sends %s Authorization header gets invalid_request', async (_, first, second) => {
    const type = ['Content-Type', 'application/x-www-form-urlencoded']
    const headers = [...type, 'Authorization', first, 'Authorization', second]
    const response = await rawRequest(stage().app, {
      method: 'POST',
      path: '/token',
      headers,
      body: formOf(grant),
    })
    expect([response.status, JSON.parse(response.text).error]).toEqual([400, 'invalid_request'])
  })

  test.each(['guess', ''])(
    'with the secret %j and an unknown client get the same answer [client-7]',
    async (secret) => {
      const set = stage()
      const inBody = (id: string) => ({ ...grant, client_id: id, client_secret: secret })
      for (const answer of [
        (id: string) => ask(set, grant, { Authorization: basic(id, secret) }),
        (id: string) => ask(set, inBody(id)),
      ]) {
        const [known, stranger] = [await answer(client_id), await answer('nobody')]
        expect([stranger.text, stranger.status]).toEqual([known.text, known.status])
        const ofItsOwn = { 'x-request-id': expect.any(String), date: expect.any(String) }
        expect(stranger.headers).toEqual({ ...known.headers, ...ofItsOwn })
      }
    },
  )
})

test.each<[string, Fields, Headers, string]>([
  ['no name', {}, {}, '401 invalid_client'],
  ['a secret it does not have', { client_id: 'photo-book', client_secret: 'x' }, {}, '401 invalid_client'],
  ['a password it does not have', {}, { Authorization: basic('photo-book', 'x') }, '401 invalid_client'],
  ['two names', { client_id: 'other' }, { Authorization: basic('photo-book', '') }, '400 invalid_request'],
  ['an empty client_secret', { client_id: 'photo-book', client_secret: '' }, {}, 'tokens'],
  ['an empty password', {}, { Authorization: basic('photo-book', '') }, 'tokens'],
])('A public client with %s: %s', async (_, fields, headers, outcome) => {
  const set = setStage()
  const code = await set.flow.approve(photoBook)
  expect(outcomeOf(await ask(set, { ...redemption(photoBook, code), ...fields }, headers))).toBe(outcome)
})
