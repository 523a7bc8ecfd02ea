import { nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { basic, formOf, type Headers } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'

// Each outcome of a refusal says that it is JSON, no-store and no-cache: outcomeOf checks that.
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const { client_id } = nightlyReport.registration

test('[TER-1] invalid_request: a parameter is missing or repeated, or there are several credentials', async () => {
  const { flow } = setStage()
  const headers = { Authorization: basic(client_id, nightlyReport.secret) }
  for (const body of [
    'scope=photos:read',
    `${formOf(grant)}&scope=photos:read`,
    `${formOf(grant)}&client_id=${client_id}&client_secret=x`,
  ])
    expect(outcomeOf(await flow.submit('/token', body, undefined, headers))).toBe('400 invalid_request')
})

test('[TER-1] invalid_grant: the code or refresh token is invalid, or another client’s', async () => {
  const { flow } = setStage()
  const { refreshToken } = await flow.tokens(photoPrint)
  const code = await flow.approve(photoPrint)
  for (const response of [
    await flow.redeem(photoPrint, 'x'),
    await flow.redeem(photoFrame, code),
    await flow.redeem(photoPrint, code, { redirect_uri: 'https://print.example/other' }),
    await flow.refresh(photoPrint, 'x'),
    await flow.refresh(photoFrame, refreshToken),
  ])
    expect(outcomeOf(response)).toBe('400 invalid_grant')
})

test('[TER-1] unauthorized_client: the client is not registered for the grant', async () => {
  expect(outcomeOf(await setStage().flow.request(photoPrint, grant))).toBe('400 unauthorized_client')
})

test('[TER-1] unsupported_grant_type: the server does not have the grant', async () => {
  const response = await setStage().flow.request(photoPrint, { grant_type: 'urn:example:unheard-of' })
  expect(outcomeOf(response)).toBe('400 unsupported_grant_type')
})

test('[TER-1] invalid_scope: the scope is unknown, malformed or more than was granted', async () => {
  const { flow } = setStage()
  const { refreshToken } = await flow.tokens(photoPrint, { scope: 'photos:read' })
  for (const response of [
    await flow.request(nightlyReport, { ...grant, scope: 'unheard-of' }),
    await flow.request(nightlyReport, { ...grant, scope: 'photos:read ' }),
    await flow.refresh(photoPrint, refreshToken, { scope: 'photos:print' }),
  ])
    expect(outcomeOf(response)).toBe('400 invalid_scope')
})

test('[TER-1] temporarily_unavailable: the store does not take what would be issued', async () => {
  const { flow, store } = setStage()
  store.begin('fails', 'write')
  expect(outcomeOf(await flow.request(nightlyReport, grant))).toBe('400 temporarily_unavailable')
})

test('[TER-2] a failed authentication is 401, and who used Basic is challenged by Basic', async () => {
  const { flow } = setStage()
  for (const response of [
    await flow.request({ ...nightlyReport, secret: 'guess' }, grant),
    await flow.request(
      { registration: { ...nightlyReport.registration, client_id: 'nobody' }, secret: 'x' },
      grant,
    ),
    await flow.submit('/token', grant, undefined, { Authorization: 'Basic garbage' }),
  ]) {
    expect(outcomeOf(response)).toBe('401 invalid_client')
    expect(response.get('WWW-Authenticate')).toMatch(/^Basic realm="[^"]+"/)
  }
})

test('[TER-2] no authentication, and one by another scheme, are 401 as well', async () => {
  const { flow } = setStage()
  for (const headers of [{}, { Authorization: 'Digest a="b"' }])
    expect(outcomeOf(await flow.submit('/token', grant, undefined, headers))).toBe('401 invalid_client')
})

test.each([
  ['the scheme that it used', 'Sealed wax', 'Sealed realm="oauth"'],
  ['that scheme in its own spelling', 'sealed wax', 'Sealed realm="oauth"'],
  ['Basic, which it used', 'Basic garbage', 'Basic realm="oauth", charset="UTF-8"'],
  ['all, having used none', undefined, 'Basic realm="oauth", charset="UTF-8", Sealed realm="oauth"'],
  [
    'all, having used none of them',
    'Digest a="b"',
    'Basic realm="oauth", charset="UTF-8", Sealed realm="oauth"',
  ],
])('[TER-2] among several schemes a client is challenged by %s', async (_, Authorization, challenge) => {
  const sealed = { name: 'sealed', scheme: 'Sealed', read: () => undefined, verify: async () => false }
  const { flow } = setStage({ plugins: [{ name: 'host-methods', clientAuthenticationMethods: [sealed] }] })
  const headers: Headers = Authorization === undefined ? {} : { Authorization }
  const response = await flow.submit('/token', grant, undefined, headers)
  expect(outcomeOf(response)).toBe('401 invalid_client')
  expect(response.get('WWW-Authenticate')).toBe(challenge)
})

test.each(['fails', 'hangs'] as const)(
  '[TER-3] while the store %s, the client is asked to try again later',
  async (trouble) => {
    const { flow, store } = setStage({ storeDeadline: 1 })
    const code = await flow.approve(photoBook)
    store.begin(trouble, 'read', 'write')
    const response = await flow.redeem(photoBook, code)
    expect(outcomeOf(response)).toBe('400 temporarily_unavailable')
    expect(response.get('Retry-After')).toMatch(/^[1-9]\d*$/)
    store.recover()
    expect(outcomeOf(await flow.redeem(photoBook, code))).toBe('tokens')
  },
)

test('[TER-3] while the store of clients fails, no client counts as unknown [store-4]', async () => {
  const { flow } = setStage({ clients: { find: () => Promise.reject(new Error('refused')) } })
  const response = await flow.request(nightlyReport, grant)
  expect(outcomeOf(response)).toBe('400 temporarily_unavailable')
  expect(response.get('Retry-After')).toMatch(/^[1-9]\d*$/)
})

test.each([
  [{}, '400 invalid_request'],
  [{ grant_type: '' }, '400 invalid_request'],
  [{ grant_type: 'urn:example:unheard-of' }, '400 unsupported_grant_type'],
  [{ grant_type: 'Client_Credentials' }, '400 unsupported_grant_type'],
])('[TER-4] no grant type is invalid, an unknown one unsupported: %j', async (fields, outcome) => {
  expect(outcomeOf(await setStage().flow.request(nightlyReport, fields))).toBe(outcome)
})

test('[TER-5] a client that may not use a grant gets unauthorized_client [client-24]', async () => {
  const { flow } = setStage()
  for (const grant_type of ['authorization_code', 'refresh_token'])
    expect(outcomeOf(await flow.request(nightlyReport, { grant_type }))).toBe('400 unauthorized_client')
  expect(outcomeOf(await flow.request(photoBook, grant))).toBe('400 unauthorized_client')
})
