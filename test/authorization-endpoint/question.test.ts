import { type AuthorizationEndpoint, authorize } from '../../lib/authorization-endpoint/authorize'
import { codeResponseType, ResponseTypes } from '../../lib/authorization-endpoint/response-types'
import { digest } from '../../lib/protocol/credential'
import type { Extension } from '../../lib/protocol/extension'
import { noon, ownIssuer } from '../support/authorization/issue-context'
import { clientWith } from '../support/authorization/client'
import { authorizationEndpoint, clientsOf, watchedStore } from '../support/rooms/endpoints'
import { parametersOf } from '../support/rooms/parameters'
import { hostWhere } from '../support/rooms/watched-host'

const good = {
  response_type: 'code',
  client_id: 'photo-printer',
  redirect_uri: 'https://printer.example/callback',
  scope: 'photos.read',
  state: 'af0ifjsldkj',
}

/** The question that the request ends in. */
async function ask(bend: Parameters<typeof parametersOf>[0], endpoint: Partial<AuthorizationEndpoint>) {
  const host = hostWhere()
  const parameters = parametersOf({ ...good, ...bend })
  expect(await authorize(authorizationEndpoint(endpoint), parameters, host)).toEqual({ kind: 'answered' })
  expect(host.calls).toEqual(['resourceOwner', 'ask'])
  const [question] = host.questions
  if (question === undefined) throw new Error('Nothing was asked.')
  return question
}

describe('authorize: the question', () => {
  it('stores a pending record and asks the resource owner', async () => {
    const store = watchedStore()
    const question = await ask({}, { store })
    expect(question).toMatchObject({
      client: { client_id: 'photo-printer' },
      resourceOwner: { subject: 'alice', name: 'Alice' },
      scope: ['photos.read'],
      redirectUri: good.redirect_uri,
    })
    expect(store.saved).toEqual([
      {
        state: 'pending',
        id: expect.any(String),
        issuerDigest: ownIssuer,
        clientId: 'photo-printer',
        subject: 'alice',
        scope: ['photos.read'],
        tokenType: 'bearer',
        extensionData: {},
        request: {
          responseType: 'code',
          redirectUri: good.redirect_uri,
          redirectUriSent: true,
          requestState: good.state,
        },
        handle: digest(question.handle),
        expiresAt: noon + 600,
      },
    ])
  })

  it('is a new one each time the same request comes', async () => {
    const store = watchedStore()
    await ask({}, { store })
    await ask({}, { store })
    expect(new Set(store.saved.map((saved) => saved.id)).size).toBe(2)
  })

  it('notes that the request named no redirection URI', async () => {
    const store = watchedStore()
    await ask({ redirect_uri: undefined }, { store })
    expect(store.saved[0]).toMatchObject({
      request: { redirectUri: good.redirect_uri, redirectUriSent: false },
    })
  })

  it('keeps what extensions learned, and the name of the response type whatever the order asked for', async () => {
    const store = watchedStore()
    const extension: Extension = { name: 'resource', atAuthorizationRequest: () => ['https://a.example'] }
    const hybrid = { ...codeResponseType, name: 'code token' }
    const client = clientWith({ redirect_uris: [good.redirect_uri] })
    const findClient = clientsOf({ ...client, response_types: ['code token'] })
    await ask(
      { response_type: 'token code' },
      { store, findClient, extensions: [extension], responseTypes: new ResponseTypes([hybrid]) },
    )
    expect(store.saved[0]).toMatchObject({
      extensionData: { resource: ['https://a.example'] },
      request: { responseType: 'code token' },
    })
  })
})
