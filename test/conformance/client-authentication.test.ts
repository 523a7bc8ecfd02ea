import { hashSync } from 'bcrypt'
import { presentedClient } from '../../lib/client-authentication/presented-client'
import { generateClientSecret } from '../../lib/index'
import { Parameters } from '../../lib/protocol/parameters'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, redemption } from '../support/flows/flow'
import { memoryStage } from '../support/flows/memory-stage'
import { outcomeOf } from '../support/flows/outcome'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const { client_id } = nightlyReport.registration
const client_secret = nightlyReport.secret

/** A phone app that was given a secret. */
const generated = generateClientSecret()
const keeper = {
  ...bent(photoBook, { client_secret_hashes: [generated.client_secret_hash] }),
  secret: generated.client_secret,
}

test('[CAU-1] a confidential client authenticates on every token request', async () => {
  const { flow } = memoryStage()
  const { registration } = photoPrint
  const { refreshToken } = await flow.tokens(photoPrint)
  const code = await flow.approve(photoPrint)
  for (const response of [
    await flow.submit('/token', { ...grant, client_id }),
    await flow.redeem({ registration }, code),
    await flow.refresh({ registration }, refreshToken),
  ])
    expect(outcomeOf(response)).toBe('401 invalid_client')
})

test('[CAU-1] so does a public client that has a secret', async () => {
  const { flow } = memoryStage({ clients: [keeper.registration] })
  const code = await flow.approve(keeper)
  const { registration } = keeper
  expect(outcomeOf(await flow.redeem({ registration }, code))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.redeem(keeper, code))).toBe('tokens')
})

test('[CAU-2] more than one method in a request is an invalid request', async () => {
  const { flow } = memoryStage()
  for (const fields of [{ client_secret }, { client_id, client_secret }, { client_id, client_secret: 'x' }])
    expect(outcomeOf(await flow.request(nightlyReport, { ...grant, ...fields }))).toBe('400 invalid_request')
})

test.each([
  ['a colon', 'night:report', 'pass:word'],
  ['a percent sign', 'night%20report', '100%41'],
  ['a plus sign', 'night+report', 'a+b'],
  ['a space', 'night report', 'correct horse'],
  ['letters beyond ASCII', 'nächtlich', 'Schlüssel 鍵'],
])('[CAU-3] Basic carries an id and a secret with %s, form encoded', async (_, id, secret) => {
  const registration = {
    ...nightlyReport.registration,
    client_id: id,
    client_secret_hashes: [hashSync(secret, 4)],
  }
  const { flow } = memoryStage({ clients: [registration] })
  expect(outcomeOf(await flow.request({ registration, secret }, grant))).toBe('tokens')
  expect(outcomeOf(await flow.request({ registration, secret: `${secret}x` }, grant))).toBe(
    '401 invalid_client',
  )
})

test('[CAU-4] the body may carry id and secret, the URI never', async () => {
  const { flow } = memoryStage()
  expect(outcomeOf(await flow.submit('/token', { ...grant, client_id, client_secret }))).toBe('tokens')
  const query = new URLSearchParams({ client_id, client_secret }).toString()
  expect(outcomeOf(await flow.submit(`/token?${query}`, grant))).toBe('400 invalid_request')
})

test('[CAU-4] a client can be kept to Basic, and then its body carries no secret', async () => {
  const strict = bent(nightlyReport, { token_endpoint_auth_method: 'client_secret_basic' })
  const { flow } = memoryStage({ clients: [strict.registration] })
  const inBody = await flow.submit('/token', { ...grant, client_id, client_secret })
  expect(outcomeOf(inBody)).toBe('401 invalid_client')
  expect(outcomeOf(await flow.request(strict, grant))).toBe('tokens')
})

test('[CAU-5] a further method, with a scheme of its own, fits beside the others', () => {
  const sealed = {
    name: 'sealed',
    scheme: 'Sealed',
    read: ({ authorization: [header] }: { readonly authorization: readonly string[] }) =>
      header?.startsWith('Sealed ') === true
        ? { clientId: 'photo-print', credential: header.slice('Sealed '.length) }
        : undefined,
    verify: async () => true,
  }
  const empty = Parameters.parse('')
  const sources = { authorization: ['Sealed wax'], body: empty, query: empty }
  expect(presentedClient(sources, [sealed])).toEqual({
    method: sealed,
    clientId: 'photo-print',
    credential: 'wax',
  })
  expect(() => presentedClient(sources, [])).toThrow('did not authenticate by a supported method')
})

test('[CAU-6] a password without TLS is refused before it is looked at', async () => {
  const { flow } = memoryStage({ issuer: 'https://photos.example' })
  for (const secret of [client_secret, 'guess'])
    expect(outcomeOf(await flow.request({ ...nightlyReport, secret }, grant))).toBe('400 invalid_request')
})

test('[CAU-6] each failed authentication is an event that names the client', async () => {
  const { flow, failures } = memoryStage()
  await flow.request({ ...nightlyReport, secret: 'guess' }, grant)
  expect(failures).toMatchObject([{ endpoint: 'token', code: 'invalid_client', clientId: client_id }])
})

test('[CAU-7] the secret of a public client opens nothing that is for confidential ones', async () => {
  const { flow } = memoryStage({ clients: [keeper.registration] })
  const plain = { code_challenge: undefined, code_challenge_method: undefined }
  const request = { ...authorizationRequest(keeper), ...plain }
  expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('redirect invalid_request')
  const code = await flow.approve(keeper)
  const fields = { ...redemption(keeper, code), code_verifier: undefined }
  expect(outcomeOf(await flow.request(keeper, fields))).toBe('400 invalid_grant')
  const greedy = bent(keeper, { grant_types: ['client_credentials'] }).registration
  expect(() => memoryStage({ clients: [greedy] })).toThrow('confidential clients only')
})
