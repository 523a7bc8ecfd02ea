import { nightlyReport, photoBook } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { basic, formOf, redemption, type Fields, type Headers } from '../support/flows/flow'
import { rawRequest } from '../support/flows/raw-request'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const { client_id } = nightlyReport.registration
const client_secret = nightlyReport.secret
const Authorization = basic(client_id, client_secret)
const raw = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const challenge = 'Basic realm="oauth", charset="UTF-8"'

const ask = ({ flow }: Stage, fields: Fields | string, headers: Headers = {}, query = '') =>
  flow.submit(`/token${query}`, fields, undefined, headers)

const redeem = async (set: Stage, fields: Fields, headers: Headers, query = '') =>
  ask(set, { ...redemption(photoBook, await set.flow.approve(photoBook)), ...fields }, headers, query)

const accepted: readonly [string, Fields, Headers][] = [
  ['Basic', grant, { Authorization }],
  ['Basic, raw', grant, { Authorization: raw(`${client_id}:${client_secret}`) }],
  ['basic, in lower case', grant, { Authorization: Authorization.replace('Basic', 'basic') }],
  ['Basic and the same client_id', { ...grant, client_id }, { Authorization }],
  ['Basic and an empty client_secret', { ...grant, client_secret: '' }, { Authorization }],
  ['the body', { ...grant, client_id, client_secret }, {}],
]

const refused: readonly [string, Fields | string, Headers, string][] = [
  ['an empty client_secret', { ...grant, client_id, client_secret: '' }, {}, '401 invalid_client'],
  ['a client_secret alone', { ...grant, client_secret }, {}, '400 invalid_request'],
  ['an unknown client_id', { ...grant, client_id: 'nobody', client_secret }, {}, '401 invalid_client'],
  ['Basic with an empty secret', grant, { Authorization: basic(client_id, '') }, '401 invalid_client'],
  ['Basic without an id', grant, { Authorization: basic('', client_secret) }, '401 invalid_client'],
  ['Basic without a colon', grant, { Authorization: raw(client_id) }, '401 invalid_client'],
  ['Basic that is not base64', grant, { Authorization: 'Basic ***' }, '401 invalid_client'],
  [
    'Basic and another client_id',
    { ...grant, client_id: 'photo-print' },
    { Authorization },
    '400 invalid_request',
  ],
  ['Basic and the body', { ...grant, client_id, client_secret }, { Authorization }, '400 invalid_request'],
  [
    'Basic with an empty secret and a client_secret',
    { ...grant, client_id, client_secret },
    { Authorization: basic(client_id, '') },
    '400 invalid_request',
  ],
  ['Bearer', grant, { Authorization: 'Bearer abc' }, '401 invalid_client'],
  [
    'Digest and its client_id',
    { ...grant, client_id },
    { Authorization: 'Digest a="b"' },
    '401 invalid_client',
  ],
  [
    'an unknown scheme and the body',
    { ...grant, client_id, client_secret },
    { Authorization: 'Digest a="b"' },
    '400 invalid_request',
  ],
  [
    'a repeated client_secret',
    `${formOf({ ...grant, client_id, client_secret })}&client_secret=${client_secret}`,
    {},
    '400 invalid_request',
  ],
  [
    'a repeated client_id',
    `${formOf({ ...grant, client_id, client_secret })}&client_id=${client_id}`,
    {},
    '400 invalid_request',
  ],
]

describeOnStores('A confidential client', (stage) => {
  test.each(accepted)('that uses %s gets tokens', async (_, fields, headers) => {
    expect(tokensOf(await ask(stage(), fields, headers)).scope).toBe('photos:read')
  })

  test.each(refused)('that uses %s is refused', async (_, fields, headers, refusal) => {
    const set = stage()
    const response = await ask(set, fields, headers)
    expect(refusalOf(response)).toBe(refusal)
    expect(response.get('WWW-Authenticate')).toBe(response.status === 401 ? challenge : undefined)
  })

  test.each([
    ['two good', Authorization, Authorization],
    ['a good and a foreign', Authorization, 'Bearer abc'],
    ['an empty and a good', '', Authorization],
  ])('that sends %s Authorization header gets invalid_request', async (_, first, second) => {
    const response = await rawRequest(stage().app, {
      method: 'POST',
      path: '/token',
      headers: [
        'Content-Type',
        'application/x-www-form-urlencoded',
        'Authorization',
        first,
        'Authorization',
        second,
      ],
      body: formOf(grant),
    })
    expect([response.status, JSON.parse(response.text).error]).toEqual([400, 'invalid_request'])
  })

  test.each([
    ['its credentials', { client_id, client_secret }, grant, '400 invalid_request'],
    ['its client_id', { client_id }, { ...grant, client_secret }, '400 invalid_request'],
    ['the grant type', { grant_type: grant.grant_type }, { client_id, client_secret }, '400 invalid_request'],
    [
      'the scope',
      { scope: grant.scope },
      { ...grant, scope: '', client_id, client_secret },
      '400 invalid_scope',
    ],
  ])('that puts %s into the query is refused', async (_, query, fields, refusal) => {
    expect(refusalOf(await ask(stage(), fields, {}, `?${formOf(query)}`))).toBe(refusal)
  })

  test.each([
    ['wrong', basic(client_id, 'guess'), { client_id, client_secret: 'guess' }],
    ['empty', basic(client_id, ''), { client_id }],
  ])('with a %s secret and an unknown client get the same answer [client-7]', async (_, header, body) => {
    const set = stage()
    const unknown = { ...body, client_id: 'nobody' }
    const secret = header.endsWith('Og==') ? '' : 'guess'
    for (const [known, stranger] of [
      [
        await ask(set, grant, { Authorization: header }),
        await ask(set, grant, { Authorization: basic('nobody', secret) }),
      ],
      [await ask(set, { ...grant, ...body }), await ask(set, { ...grant, ...unknown })],
    ] as const) {
      expect(stranger.text).toBe(known.text)
      expect(stranger.status).toBe(known.status)
      const ofItsOwn = { 'x-request-id': expect.any(String), date: expect.any(String) }
      expect(stranger.headers).toEqual({ ...known.headers, ...ofItsOwn })
    }
  })
})

describeOnStores('A public client', (stage) => {
  const id = photoBook.registration.client_id
  test.each<[string, Fields, Headers]>([
    ['by client_id', { client_id: id }, {}],
    ['by client_id with an empty client_secret', { client_id: id, client_secret: '' }, {}],
    ['by Basic with an empty password', {}, { Authorization: basic(id, '') }],
  ])('names itself %s', async (_, fields, headers) => {
    expect(tokensOf(await redeem(stage(), fields, headers)).scope).toBe('photos:read photos:print')
  })

  test.each<[string, Fields, Headers, string]>([
    ['no name', {}, {}, '401 invalid_client'],
    ['a secret it does not have', { client_id: id, client_secret: 'guess' }, {}, '401 invalid_client'],
    ['a Basic password it does not have', {}, { Authorization: basic(id, 'guess') }, '401 invalid_client'],
    ['two names', { client_id: 'other' }, { Authorization: basic(id, '') }, '400 invalid_request'],
  ])('with %s is refused', async (_, fields, headers, refusal) => {
    expect(refusalOf(await redeem(stage(), fields, headers))).toBe(refusal)
  })

  test('that puts its client_id into the query does not authenticate', async () => {
    expect(refusalOf(await redeem(stage(), {}, {}, `?client_id=${id}`))).toBe('401 invalid_client')
  })
})
