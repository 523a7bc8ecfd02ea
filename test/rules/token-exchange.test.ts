import type { Response } from 'supertest'
import { photoBook } from '../support/flows/clients'
import { formOf, type Fields } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import {
  accessTokenType,
  actingAs,
  exchangeOf,
  exchanging,
  service,
  tokenExchangeName,
  tokenTypeOf,
} from '../support/flows/token-exchange'
import { tokensOf } from '../support/flows/tokens'

const inBody = formOf({ client_id: service.registration.client_id, client_secret: service.secret })

/** An exchange of alice's token, with this behind it. */
async function exchanged(bend: Fields, behind = ''): Promise<Response> {
  const { flow } = setStage(exchanging())
  const { accessToken } = await flow.tokens(photoBook)
  return flow.submit('/token', `${formOf(exchangeOf(accessToken, bend))}&${inBody}${behind}`)
}

/** The grant types in the metadata of a server. */
async function offered(options: Parameters<typeof setStage>[0] = {}): Promise<unknown> {
  const { body } = await setStage(options).flow.open('/.well-known/oauth-authorization-server')
  return body.grant_types_supported
}

test('[TEX-1] token exchange has an absolute URI for its name, and metadata says so where it is on', async () => {
  expect(URL.canParse(tokenExchangeName)).toBe(true)
  expect(await offered(exchanging())).toContain(tokenExchangeName)
  expect(await offered()).not.toContain(tokenExchangeName)
  const { flow } = setStage()
  expect(outcomeOf(await flow.request(service, exchangeOf('x')))).toBe('400 unsupported_grant_type')
})

test('[TEX-2] the answer names the type of the issued token', async () => {
  const response = await exchanged({})
  expect(outcomeOf(response)).toBe('tokens')
  expect(response.body).toMatchObject({ issued_token_type: accessTokenType, token_type: 'bearer' })
  expect(response.body).not.toHaveProperty('refresh_token')
})

test.each([
  ['subject_token is required', { subject_token: undefined }],
  ['subject_token_type is required', { subject_token_type: undefined }],
  ['actor_token_type is required with actor_token', { actor_token: 'x' }],
  ['actor_token_type must not be there without actor_token', { actor_token_type: accessTokenType }],
  ['a subject token that is not good', { subject_token: 'at_x' }],
  ['an actor token that is not good', { actor_token: 'at_x', actor_token_type: accessTokenType }],
  ['a type that is not supported', { subject_token_type: tokenTypeOf('saml1') }],
  ['a requested type that is not supported', { requested_token_type: tokenTypeOf('id_token') }],
])('[TEX-3] %s: invalid_request', async (_, bend) => {
  expect(outcomeOf(await exchanged(bend))).toBe('400 invalid_request')
})

test.each(['&resource=urn:a&resource=urn:b', '&audience=a&audience=b', '&audience=a&resource=urn:a'])(
  '[TEX-4] targets may be several: %s',
  async (behind) => {
    expect(outcomeOf(await exchanged({}, behind))).toBe('tokens')
  },
)

test.each(['&resource=urn:a&resource=/b', '&resource=https://a.example/%23b'])(
  '[TEX-5] a target that is not acceptable: invalid_target: %s',
  async (behind) => {
    expect(outcomeOf(await exchanged({}, behind))).toBe('400 invalid_target')
  },
)

test('[TEX-6] by impersonation, an exchange gives a token in the name of the owner, and nothing of it shows an actor', async () => {
  const { flow } = setStage(exchanging())
  const { accessToken } = await flow.tokens(photoBook)
  const response = await flow.request(service, exchangeOf(accessToken))
  const tokens = tokensOf(response)
  expect(response.body).toEqual({
    access_token: tokens.accessToken,
    issued_token_type: accessTokenType,
    token_type: 'bearer',
    expires_in: 3600,
    scope: 'photos:read',
  })
  expect((await flow.photos(tokens.accessToken)).body).toMatchObject({
    subject: 'alice',
    clientId: 'nightly-report',
    scope: ['photos:read'],
  })
  const { body } = await flow.introspect(service, tokens.accessToken)
  expect(body).toMatchObject({ active: true, sub: 'alice' })
  expect(Object.keys(body)).not.toContain('act')
  expect(Object.keys(body)).not.toContain('aud')
})

test('[TEX-7] by delegation, an exchange names the actor in introspection, and the ones before inside it', async () => {
  const { flow } = setStage(exchanging())
  const { accessToken } = await flow.tokens(photoBook)
  const actor = await actingAs(flow)
  const first = tokensOf(await flow.request(service, exchangeOf(accessToken, actor)))
  expect((await flow.introspect(service, first.accessToken)).body).toMatchObject({
    active: true,
    sub: 'alice',
    act: { sub: 'nightly-report' },
  })
  const bob = await flow.tokens(photoBook, {}, 'bob')
  const second = tokensOf(
    await flow.request(service, exchangeOf(first.accessToken, { ...actor, actor_token: bob.accessToken })),
  )
  const chain = { sub: 'bob', act: { sub: 'nightly-report' } }
  expect((await flow.introspect(service, second.accessToken)).body).toMatchObject({ act: chain })
  const third = tokensOf(await flow.request(service, exchangeOf(second.accessToken)))
  expect((await flow.introspect(service, third.accessToken)).body).toMatchObject({
    sub: 'alice',
    act: chain,
  })
})

test('[TEX-8] no token outlives the one it was exchanged for, nor the one of its actor [exchange-5]', async () => {
  const { flow, clock } = setStage(exchanging())
  const actor = await actingAs(flow)
  clock.advance(600)
  const { accessToken } = await flow.tokens(photoBook)
  clock.advance(900)
  const alone = tokensOf(await flow.request(service, exchangeOf(accessToken)))
  expect(alone.expiresIn).toBe(2700)
  const acted = tokensOf(await flow.request(service, exchangeOf(accessToken, actor)))
  expect(acted.expiresIn).toBe(2100)
  const again = tokensOf(await flow.request(service, exchangeOf(alone.accessToken)))
  expect(again.expiresIn).toBe(2700)
  clock.advance(2700)
  expect((await flow.photos(again.accessToken)).status).toBe(401)
})
