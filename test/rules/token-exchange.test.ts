import type { Response } from 'supertest'
import { photoBook } from '../support/flows/clients'
import { formOf, type Fields } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import {
  accessTokenType,
  exchangeOf,
  exchanging,
  service,
  tokenExchangeName,
  tokenTypeOf,
} from '../support/flows/token-exchange'

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

test('[TOK-10] token exchange has an absolute URI for its name, and metadata says so where it is on', async () => {
  expect(URL.canParse(tokenExchangeName)).toBe(true)
  expect(await offered(exchanging())).toContain(tokenExchangeName)
  expect(await offered()).not.toContain(tokenExchangeName)
  const { flow } = setStage()
  expect(outcomeOf(await flow.request(service, exchangeOf('x')))).toBe('400 unsupported_grant_type')
})

test('[TOK-10] RFC 8693 2.2.1: the answer names the type of the issued token', async () => {
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
])('[TOK-10] RFC 8693 2.1 and 2.2.2: %s: invalid_request', async (_, bend) => {
  expect(outcomeOf(await exchanged(bend))).toBe('400 invalid_request')
})

test.each(['&resource=urn:a&resource=urn:b', '&audience=a&audience=b', '&audience=a&resource=urn:a'])(
  '[TOK-10] RFC 8693 2.1: targets may be several: %s',
  async (behind) => {
    expect(outcomeOf(await exchanged({}, behind))).toBe('tokens')
  },
)

test.each(['&resource=urn:a&resource=/b', '&resource=https://a.example/%23b'])(
  '[TOK-10] RFC 8693 2.2.2: a target that is not acceptable: invalid_target: %s',
  async (behind) => {
    expect(outcomeOf(await exchanged({}, behind))).toBe('400 invalid_target')
  },
)
