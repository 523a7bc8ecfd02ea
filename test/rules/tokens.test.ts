import type { TokenType } from '../../lib/index'
import { mac } from '../../lib/paths/mac'
import { nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { macHeader, type MacTokens, type SignedParts } from '../support/flows/mac'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { tokensOf } from '../support/flows/tokens'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

test('[TKN-1, MCP-8] an access token has a type, a lifetime that holds and a scope that counts [token-18]', async () => {
  const { flow, clock } = setStage()
  const response = await flow.request(nightlyReport, grant)
  expect(response.body).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'photos:read' })
  const { accessToken } = tokensOf(response)
  clock.advance(3599)
  expect((await flow.photos(accessToken)).body).toMatchObject({ scope: ['photos:read'] })
  clock.advance(1)
  expect((await flow.photos(accessToken)).status).toBe(401)
})

test('[TKN-2] the type is bearer, in lower case', async () => {
  expect((await setStage().flow.request(nightlyReport, grant)).body.token_type).toBe('bearer')
})

const signed = mac({ hosts: ['api.example.com'] })
const signature = (tokens: MacTokens, bend: SignedParts = {}) => ({
  Host: 'api.example.com',
  Authorization: macHeader(tokens, { target: '/photos', port: '80', ...bend }),
})

test('[TKN-2] mac is a type that can be switched on: its own response properties, its own way on requests', async () => {
  const { flow, clock } = setStage({ plugins: [signed], tokenType: 'mac' })
  const response = await flow.request(nightlyReport, grant)
  expect(response.body).toMatchObject({
    token_type: 'mac',
    mac_key: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    mac_algorithm: 'hmac-sha-256',
  })
  const headers = signature(response.body, { ts: clock.read() })
  expect((await flow.open('/photos', undefined, headers)).status).toBe(200)
  // The same signed request again: an observer has no more than that.
  expect((await flow.open('/photos', undefined, headers)).status).toBe(401)
  expect((await flow.photos(response.body.access_token)).status).toBe(401)
})

test('[TKN-2] the name of a type is case-sensitive', () => {
  for (const token_type of ['Bearer', 'MAC', 'Mac'])
    expect(() =>
      setStage({ plugins: [signed], clients: [{ ...nightlyReport.registration, token_type }] }),
    ).toThrow('token_type must be one of bearer, mac.')
})

test('[TKN-2] a further type brings its own name, members and scheme', async () => {
  const sealed: TokenType = {
    name: 'Sealed',
    scheme: 'Sealed',
    issue: () => ({ properties: { seal: 'wax' } }),
    read: (credentials) => ({ accessToken: credentials.replace('/wax', '') }),
  }
  const { flow } = setStage({
    plugins: [{ name: 'host-token-types', tokenTypes: [sealed] }],
    tokenType: 'Sealed',
  })
  const { body } = await flow.request(nightlyReport, grant)
  expect(body).toMatchObject({ token_type: 'Sealed', seal: 'wax' })
  const headers = { Authorization: `Sealed ${body.access_token}/wax` }
  expect((await flow.open('/photos', undefined, headers)).body).toMatchObject({ tokenType: 'Sealed' })
})

test('[TKN-3] a refresh token is good for no other client', async () => {
  const { flow } = setStage()
  const { refreshToken } = await flow.tokens(photoPrint)
  for (const thief of [photoBook, photoFrame])
    expect(outcomeOf(await flow.refresh(thief, refreshToken))).toBe('400 invalid_grant')
  expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('tokens')
})

test('[TKN-4] a new refresh token has the whole scope, even if the refresh asked for less', async () => {
  const { flow } = setStage()
  const first = await flow.tokens(photoPrint)
  const narrowed = tokensOf(await flow.refresh(photoPrint, first.refreshToken, { scope: 'photos:read' }))
  expect(narrowed.scope).toBe('photos:read')
  const whole = tokensOf(await flow.refresh(photoPrint, narrowed.refreshToken))
  expect(whole.scope.split(' ').toSorted()).toEqual(['photos:print', 'photos:read'])
})

test('[TKN-5, MCP-9] a refresh brings a new refresh token, and the old one, used again, revokes everything [refresh-1]', async () => {
  const { flow, clock } = setStage()
  const first = await flow.tokens(photoPrint)
  const second = tokensOf(await flow.refresh(photoPrint, first.refreshToken))
  expect(second.refreshToken).not.toBe(first.refreshToken)
  // Until then a repetition counts as an answer that was lost.
  clock.advance(31)
  expect(outcomeOf(await flow.refresh(photoPrint, first.refreshToken))).toBe('400 invalid_grant')
  expect(outcomeOf(await flow.refresh(photoPrint, second.refreshToken))).toBe('400 invalid_grant')
  expect((await flow.photos(second.accessToken)).status).toBe(401)
})

test.each(['x', `rt_${'A'.repeat(82)}`])(
  '[TKN-6] garbage is no refresh token: %s [refresh-7]',
  async (garbage) => {
    expect(outcomeOf(await setStage().flow.refresh(photoPrint, garbage))).toBe('400 invalid_grant')
  },
)

test('[TKN-6] neither an expired nor a revoked refresh token brings tokens [refresh-13]', async () => {
  const { flow, clock, oauth } = setStage({ lifetimes: { refreshToken: 100 } })
  const [expired, revoked] = [await flow.tokens(photoPrint), await flow.tokens(photoPrint)]
  await oauth.revoke((await flow.photos(revoked.accessToken)).body.authorizationId)
  expect(outcomeOf(await flow.refresh(photoPrint, revoked.refreshToken))).toBe('400 invalid_grant')
  clock.advance(100)
  expect(outcomeOf(await flow.refresh(photoPrint, expired.refreshToken))).toBe('400 invalid_grant')
})

test('[TKN-7] the order of a scope carries no meaning', async () => {
  const { flow } = setStage()
  for (const scope of ['photos:read photos:print', 'photos:print photos:read'])
    expect((await flow.tokens(photoBook, { scope })).scope.split(' ').toSorted()).toEqual([
      'photos:print',
      'photos:read',
    ])
})

test.each([
  ['two spaces', 'photos:read  photos:print'],
  ['a space before', ' photos:read'],
  ['a space behind', 'photos:read '],
  ['a tab', 'photos:read\tphotos:print'],
  ['a quote', 'photos:read "'],
  ['a backslash', 'photos:read\\'],
  ['a line break', 'photos:read\n'],
  ['a letter beyond ASCII', 'phötos:read'],
  ['another case', 'Photos:read'],
])('[TKN-7] a scope with %s is an invalid scope, at both endpoints [input-11]', async (_, scope) => {
  const { flow } = setStage()
  const request = { ...authorizationRequest(photoBook), scope }
  expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('redirect invalid_scope')
  expect(outcomeOf(await flow.request(nightlyReport, { ...grant, scope }))).toBe('400 invalid_scope')
  const { refreshToken } = await flow.tokens(photoBook)
  expect(outcomeOf(await flow.refresh(photoBook, refreshToken, { scope }))).toBe('400 invalid_scope')
})

test('[TKN-8, RES-2] a guarded route takes neither an expired token nor one of another scope [token-3]', async () => {
  const { flow, clock } = setStage()
  const other = tokensOf(await flow.request(nightlyReport, { ...grant, scope: 'reports:write' }))
  const good = tokensOf(await flow.request(nightlyReport, grant))
  expect((await flow.photos(other.accessToken)).status).toBe(403)
  expect((await flow.photos(good.accessToken)).status).toBe(200)
  clock.advance(3600)
  expect((await flow.photos(good.accessToken)).status).toBe(401)
})
