import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { basic, formOf, redemption } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { rawRequest } from '../support/flows/raw-request'
import { oldBook, oldPrint, PasswordCheck, passwordRequest, withPassword } from '../support/flows/password'
import { tokensOf } from '../support/flows/tokens'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const { client_id } = nightlyReport.registration
const client_secret = nightlyReport.secret
const Authorization = basic(client_id, client_secret)
const formType = 'application/x-www-form-urlencoded'

test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  '[TOK-1] tokens are for POST: %s is answered 405 with Allow',
  async (method) => {
    const headers = ['Authorization', Authorization, 'Content-Type', formType]
    const { status, headers: answered } = await rawRequest(setStage().app, {
      method,
      path: `/token?${formOf(grant)}`,
      headers,
      body: formOf(grant),
    })
    expect([status, answered.allow]).toEqual([405, 'POST'])
  },
)

test.each([
  ['400 invalid_request', 'application/json'],
  ['400 invalid_request', 'text/plain'],
  ['400 invalid_request', 'multipart/form-data; boundary=x'],
  ['400 invalid_request', `${formType}; charset=iso-8859-1`],
  ['tokens', `${formType}; charset=UTF-8`],
  ['tokens', formType],
])('[TOK-2] the body is a form in UTF-8: %s for %s [input-5]', async (outcome, type) => {
  const body = type === 'application/json' ? JSON.stringify(grant) : formOf(grant)
  const response = await setStage().flow.submit('/token', body, undefined, {
    Authorization,
    'Content-Type': type,
  })
  expect(outcomeOf(response)).toBe(outcome)
})

test('[TOK-2] bytes that are not UTF-8 are an invalid request [input-6]', async () => {
  const body = Buffer.from('grant_type=client_credentials&scope=photos:read\xff', 'latin1')
  const headers = ['Authorization', Authorization, 'Content-Type', formType]
  const { status, text } = await rawRequest(setStage().app, {
    method: 'POST',
    path: '/token',
    headers,
    body,
  })
  expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_request'])
})

test('[TOK-3] parameters in the query are not read, and a credential there refuses the request [input-10]', async () => {
  const { flow } = setStage()
  const post = async (query: string, body: string): Promise<string> =>
    outcomeOf(await flow.submit(`/token?${query}`, body, undefined, { Authorization }))
  expect(await post('scope=unheard-of&grant_type=password', formOf(grant))).toBe('tokens')
  expect(await post('grant_type=client_credentials', 'scope=photos:read')).toBe('400 invalid_request')
  for (const name of ['client_secret', 'code', 'refresh_token', 'username', 'password', 'code_verifier'])
    expect(await post(`${name}=x`, formOf(grant))).toBe('400 invalid_request')
})

test('[TOK-4] a client that authenticates may name itself, and no other [client-4]', async () => {
  const { flow } = setStage()
  expect(outcomeOf(await flow.request(nightlyReport, { ...grant, client_id }))).toBe('tokens')
  const response = await flow.request(nightlyReport, { ...grant, client_id: 'photo-print' })
  expect(outcomeOf(response)).toBe('400 invalid_request')
})

test('[TOK-5] a code takes the authentication of its client, and the redirection URI of its request', async () => {
  const { flow } = setStage()
  const code = await flow.approve(photoPrint)
  const { registration } = photoPrint
  expect(outcomeOf(await flow.redeem({ registration }, code))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.redeem({ registration, secret: 'x' }, code))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
  expect(outcomeOf(await flow.redeem(photoPrint, 'x'))).toBe('400 invalid_grant')
  for (const redirect_uri of [undefined, 'https://book.example/callback', 'https://PRINT.example/callback'])
    expect(outcomeOf(await flow.redeem(photoPrint, code, { redirect_uri }))).toBe('400 invalid_grant')
  expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('tokens')
})

test('[TOK-5] a redirection URI that was not in the authorization request need not be named', async () => {
  const { flow } = setStage()
  const code = await flow.approve(photoPrint, { redirect_uri: undefined })
  expect(outcomeOf(await flow.redeem(photoPrint, code, { redirect_uri: undefined }))).toBe('tokens')
})

test('[TOK-6] a public client names itself by client_id', async () => {
  const { flow } = setStage()
  const fields = redemption(photoBook, await flow.approve(photoBook))
  expect(outcomeOf(await flow.submit('/token', fields))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.submit('/token', { ...fields, client_id: 'photo-book' }))).toBe('tokens')
})

test('[TOK-7] a password takes the authentication of its client, and the right credentials of the owner', async () => {
  const check = new PasswordCheck()
  const { flow } = setStage(withPassword({ verify: check.verify }))
  const { registration } = oldPrint
  const ask = async (client: typeof oldPrint, bend: object = {}) =>
    outcomeOf(await flow.request(client, { ...passwordRequest, ...bend }))
  expect(await ask({ registration })).toBe('401 invalid_client')
  expect(await ask({ registration, secret: 'x' })).toBe('401 invalid_client')
  expect(check.asked).toEqual([])
  expect(await ask(oldPrint, { password: 'x' })).toBe('400 invalid_grant')
  expect(await ask(oldPrint, { username: 'x' })).toBe('400 invalid_grant')
  expect(await ask(oldPrint)).toBe('tokens')
  expect(await ask(oldBook)).toBe('tokens')
})

test('[TOK-7] guessing at passwords is limited', async () => {
  const check = new PasswordCheck()
  const { flow } = setStage(withPassword({ verify: check.verify }))
  const guess = async () => flow.request(oldPrint, { ...passwordRequest, password: 'x' })
  const outcomes = (await Promise.all(Array.from({ length: 30 }, guess))).map(outcomeOf)
  expect(outcomes.filter((outcome) => outcome === '400 invalid_grant')).toHaveLength(10)
  expect(outcomes.filter((outcome) => outcome === '429 temporarily_unavailable')).toHaveLength(20)
  const response = await flow.request(oldPrint, passwordRequest)
  expect(outcomeOf(response)).toBe('429 temporarily_unavailable')
  expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  expect(check.asked).toHaveLength(10)
})

test('[TOK-7] the password grant is off unless the server and the client have it on [password-1]', async () => {
  const { verify } = new PasswordCheck()
  const off = setStage()
  expect(outcomeOf(await off.flow.request(photoPrint, passwordRequest))).toBe('400 unsupported_grant_type')
  const on = setStage({ ...withPassword({ verify }), clients: [photoPrint.registration] })
  expect(outcomeOf(await on.flow.request(photoPrint, passwordRequest))).toBe('400 unauthorized_client')
})

test('[TOK-8] who acts for itself is confidential, authenticated and has no refresh token [refresh-16]', async () => {
  const grants = { grant_types: ['client_credentials', 'refresh_token'] }
  const client = bent(nightlyReport, grants)
  const { flow } = setStage({ clients: [client.registration] })
  expect(tokensOf(await flow.request(client, grant)).refreshToken).toBe('')
  expect(outcomeOf(await flow.submit('/token', { ...grant, client_id }))).toBe('401 invalid_client')
  expect(() => setStage({ clients: [bent(photoBook, grants).registration] })).toThrow('client_credentials')
})

test('[TOK-9, OIC-53] a refresh takes the authentication of its client', async () => {
  const { flow } = setStage()
  const { refreshToken } = await flow.tokens(photoPrint)
  const { registration } = photoPrint
  expect(outcomeOf(await flow.refresh({ registration }, refreshToken))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
  expect(outcomeOf(await flow.refresh(photoPrint, `${refreshToken}x`))).toBe('400 invalid_grant')
  expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('tokens')
})

test('[TOK-9, OIC-53] a refresh has the scope that was granted, or less, never more [refresh-12]', async () => {
  const { flow } = setStage()
  const { refreshToken } = await flow.tokens(photoPrint, { scope: 'photos:read' })
  const more = await flow.refresh(photoPrint, refreshToken, { scope: 'photos:read photos:print' })
  expect(outcomeOf(more)).toBe('400 invalid_scope')
  expect(tokensOf(await flow.refresh(photoPrint, refreshToken)).scope).toBe('photos:read')
})

test('[TOK-11] a code brings a refresh token to the clients that are registered for it', async () => {
  const without = bent(photoPrint, { grant_types: ['authorization_code'] })
  expect((await setStage().flow.tokens(photoPrint)).refreshToken).toMatch(/^rt_/)
  const { flow } = setStage({ clients: [without.registration] })
  expect((await flow.tokens(without)).refreshToken).toBe('')
})

test('[TOK-11] a password brings a refresh token to the clients that are registered for it [password-17]', async () => {
  const without = bent(oldBook, { grant_types: ['password'] })
  const clients = [oldPrint.registration, without.registration]
  const { flow } = setStage({ ...withPassword({ verify: new PasswordCheck().verify }), clients })
  const { refreshToken } = tokensOf(await flow.request(oldPrint, passwordRequest))
  expect(outcomeOf(await flow.refresh(oldPrint, refreshToken))).toBe('tokens')
  expect(tokensOf(await flow.request(without, passwordRequest)).refreshToken).toBe('')
})
