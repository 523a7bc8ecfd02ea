import { hashSync } from 'bcrypt'
import {
  generateClientSecret,
  type ClientAuthenticationMethod,
  type ClientRegistration,
} from '../../lib/index'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, redemption } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
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
  const { flow } = setStage()
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
  const { flow } = setStage({ clients: [keeper.registration] })
  const code = await flow.approve(keeper)
  const { registration } = keeper
  expect(outcomeOf(await flow.redeem({ registration }, code))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.redeem(keeper, code))).toBe('tokens')
})

test('[CAU-2] more than one method in a request is an invalid request [client-3]', async () => {
  const { flow } = setStage()
  for (const fields of [{ client_secret }, { client_id, client_secret }, { client_id, client_secret: 'x' }])
    expect(outcomeOf(await flow.request(nightlyReport, { ...grant, ...fields }))).toBe('400 invalid_request')
})

test.each([
  ['a colon', 'night:report', 'pass:word'],
  ['a percent sign', 'night%20report', '100%41'],
  ['a plus sign', 'night+report', 'a+b'],
  ['a space', 'night report', 'correct horse'],
  ['letters beyond ASCII', 'nächtlich', 'Schlüssel 鍵'],
])(
  '[CAU-3, OIC-33] Basic carries an id and a secret with %s, form encoded [client-11]',
  async (_, id, secret) => {
    const registration = {
      ...nightlyReport.registration,
      client_id: id,
      client_secret_hashes: [hashSync(secret, 4)],
    }
    const { flow } = setStage({ clients: [registration] })
    expect(outcomeOf(await flow.request({ registration, secret }, grant))).toBe('tokens')
    expect(outcomeOf(await flow.request({ registration, secret: `${secret}x` }, grant))).toBe(
      '401 invalid_client',
    )
  },
)

test('[CAU-4, MCP-36, OIC-33] the body may carry id and secret, the URI never [client-5]', async () => {
  const { flow } = setStage()
  expect(outcomeOf(await flow.submit('/token', { ...grant, client_id, client_secret }))).toBe('tokens')
  const query = new URLSearchParams({ client_id, client_secret }).toString()
  expect(outcomeOf(await flow.submit(`/token?${query}`, grant))).toBe('400 invalid_request')
})

test('[CAU-4] a client can be kept to Basic, and then its body carries no secret', async () => {
  const strict = bent(nightlyReport, { token_endpoint_auth_method: 'client_secret_basic' })
  const { flow } = setStage({ clients: [strict.registration] })
  const inBody = await flow.submit('/token', { ...grant, client_id, client_secret })
  expect(outcomeOf(inBody)).toBe('401 invalid_client')
  expect(outcomeOf(await flow.request(strict, grant))).toBe('tokens')
})

/** A method with a scheme of its own, as a host adds it, and a client that uses it. */
const sealed: ClientAuthenticationMethod = {
  name: 'sealed',
  scheme: 'Sealed',
  read: ({ authorization: [header] }) =>
    header?.startsWith('Sealed ') === true
      ? { clientId: 'night-watch', credential: header.slice('Sealed '.length) }
      : undefined,
  verify: async (client, credential) => client?.credentials['sealed'] === credential,
}
const nightWatch = bent(nightlyReport, {
  client_id: 'night-watch',
  client_secret_hashes: undefined,
  credentials: { sealed: 'wax' },
}).registration
const withSeal = (...clients: readonly ClientRegistration[]) =>
  setStage({ plugins: [{ name: 'host-methods', clientAuthenticationMethods: [sealed] }], clients })
const bySeal = { Authorization: 'Sealed wax' }

test('[CAU-5] a further method, with a scheme of its own, comes in by an option', async () => {
  const { flow } = withSeal(nightWatch)
  expect(outcomeOf(await flow.submit('/token', grant, undefined, bySeal))).toBe('tokens')
  const forged = { Authorization: 'Sealed glue' }
  expect(outcomeOf(await flow.submit('/token', grant, undefined, forged))).toBe('401 invalid_client')
})

test('[CAU-5] the mapping from client to scheme is the registration: no entry, no scheme', async () => {
  const mapped = { ...nightlyReport.registration, client_id: 'night-watch' }
  const trusting = { ...sealed, verify: async () => true }
  const { flow } = setStage({
    plugins: [{ name: 'host-methods', clientAuthenticationMethods: [trusting] }],
    clients: [mapped],
  })
  expect(outcomeOf(await flow.submit('/token', grant, undefined, bySeal))).toBe('401 invalid_client')
})

test.each([1, 'yes', {}, []])(
  '[CAU-5] what such a method returns is a proof only if it is true, not %j [client-28]',
  async (answer) => {
    const careless: object = { verify: async () => answer }
    const { flow } = setStage({
      plugins: [{ name: 'host-methods', clientAuthenticationMethods: [{ ...sealed, ...careless }] }],
      clients: [nightWatch],
    })
    expect(outcomeOf(await flow.submit('/token', grant, undefined, bySeal))).toBe('401 invalid_client')
  },
)

test('[CAU-1] a public client that has a credential of such a method authenticates by it', async () => {
  const phone = bent(photoBook, { client_id: 'night-watch', credentials: { sealed: 'wax' } })
  const { flow } = withSeal(phone.registration)
  const code = await flow.approve(phone)
  expect(outcomeOf(await flow.redeem(phone, code))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.submit('/token', redemption(phone, code), undefined, bySeal))).toBe('tokens')
})

test('[CAU-2] a further method beside another one is an invalid request', async () => {
  const { flow } = withSeal(nightWatch, nightlyReport.registration)
  for (const fields of [
    { client_id: 'night-watch', client_secret: 'x' },
    { client_id, client_secret },
  ])
    expect(outcomeOf(await flow.submit('/token', { ...grant, ...fields }, undefined, bySeal))).toBe(
      '400 invalid_request',
    )
})

test('[CAU-6] a password without TLS is refused before it is looked at [client-6]', async () => {
  const { flow } = setStage({ issuer: 'https://photos.example' })
  for (const secret of [client_secret, 'guess'])
    expect(outcomeOf(await flow.request({ ...nightlyReport, secret }, grant))).toBe('400 invalid_request')
})

test('[CAU-6] each failed authentication is an event that names the client [client-33]', async () => {
  const { flow, failures } = setStage()
  await flow.request({ ...nightlyReport, secret: 'guess' }, grant)
  expect(failures).toMatchObject([{ endpoint: 'token', code: 'invalid_client', clientId: client_id }])
})

test('[CAU-6] guessing at a secret ends after twenty failures, and locks its client not out', async () => {
  const { flow } = setStage()
  const guess = async () => outcomeOf(await flow.request({ ...nightlyReport, secret: 'guess' }, grant))
  for (let time = 0; time < 20; time++) expect(await guess()).toBe('401 invalid_client')
  expect(await guess()).toBe('429 temporarily_unavailable')
  expect(await flow.request(nightlyReport, grant)).toHaveProperty('status', 200)
})

test('[CAU-7] the secret of a public client opens nothing that is for confidential ones [client-2]', async () => {
  const { flow } = setStage({ clients: [keeper.registration] })
  const plain = { code_challenge: undefined, code_challenge_method: undefined }
  const request = { ...authorizationRequest(keeper), ...plain }
  expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('redirect invalid_request')
  const code = await flow.approve(keeper)
  const fields = { ...redemption(keeper, code), code_verifier: undefined }
  expect(outcomeOf(await flow.request(keeper, fields))).toBe('400 invalid_grant')
  const greedy = bent(keeper, { grant_types: ['client_credentials'] }).registration
  expect(() => setStage({ clients: [greedy] })).toThrow('confidential clients only')
})
