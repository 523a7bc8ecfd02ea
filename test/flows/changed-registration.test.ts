import { generateClientSecret, type ClientRegistration } from '../../lib/index'
import { application } from '../support/flows/application'
import { photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'

/** A registration as a host's own object: everything in it can be changed. */
type Own = { -readonly [Field in keyof ClientRegistration]: ClientRegistration[Field] } & {
  client_secret_hashes: string[]
  redirect_uris: string[]
}

const old = generateClientSecret()
const current = { ...photoPrint, secret: photoPrint.secret }
const withOldSecret = { ...photoPrint, secret: old.client_secret }

function registration(): Own {
  const { client_secret_hashes, redirect_uris, ...rest } = photoPrint.registration
  return {
    ...rest,
    client_secret_hashes: [old.client_secret_hash, ...client_secret_hashes],
    redirect_uris: [...redirect_uris],
  }
}

describe.each([
  ['a list in the options', (clients: Own[]) => clients],
  ['a store that returns the same object', (clients: Own[]) => ({ find: async () => clients[0] })],
] as const)('A registration that its host changes in place, in %s', (_where, clientsOf) => {
  function open() {
    const own = registration()
    return { own, ...application({ clients: clientsOf([own]) }) }
  }

  test('shuts its client out when it says disabled, at both endpoints, and lets it in again', async () => {
    const { own, flow } = open()
    const { refreshToken } = await flow.tokens(current)
    own.disabled = true
    expect(refusalOf(await flow.refresh(current, refreshToken))).toBe('401 invalid_client')
    expect((await flow.ask(authorizationRequest(current), 'alice')).status).toBe(400)
    own.disabled = false
    tokensOf(await flow.refresh(current, refreshToken))
  })

  test('ends a secret that is dropped from its list, though it was verified before', async () => {
    const { own, flow } = open()
    const { refreshToken } = await flow.tokens(withOldSecret)
    own.client_secret_hashes.shift()
    expect(refusalOf(await flow.refresh(withOldSecret, refreshToken))).toBe('401 invalid_client')
    tokensOf(await flow.refresh(current, refreshToken))
  })

  test('takes a secret that stands in the place of another one', async () => {
    const { own, flow } = open()
    const { refreshToken } = await flow.tokens(current)
    const next = generateClientSecret()
    own.client_secret_hashes[1] = next.client_secret_hash
    expect(refusalOf(await flow.refresh(current, refreshToken))).toBe('401 invalid_client')
    tokensOf(await flow.refresh({ ...current, secret: next.client_secret }, refreshToken))
  })

  test('sends nothing to a redirection URI that is taken out, and answers at one that is put in', async () => {
    const { own, flow } = open()
    const [before = ''] = own.redirect_uris.splice(0, 1, 'https://print.example/new')
    expect((await flow.ask({ ...authorizationRequest(current), redirect_uri: before }, 'alice')).status).toBe(
      400,
    )
    const now = { ...authorizationRequest(current), redirect_uri: 'https://print.example/new' }
    codeOf(await flow.decide(await flow.ask(now, 'alice'), 'approve', 'alice'))
  })

  test('is an error when it cannot work any more, and none when it is mended', async () => {
    const { own, flow, failures } = open()
    const { refreshToken } = await flow.tokens(current)
    Object.assign(own, { client_type: 'web' })
    expect((await flow.refresh(current, refreshToken)).status).toBe(500)
    expect(failures.map(({ reason }) => reason)).toEqual(['unexpected'])
    own.client_type = 'confidential'
    tokensOf(await flow.refresh(current, refreshToken))
  })

  test('is never frozen', async () => {
    const { own, flow } = open()
    await flow.tokens(current)
    expect([own, own.client_secret_hashes, own.redirect_uris].some(Object.isFrozen)).toBe(false)
  })
})

test('A list of clients that its host changes in place is read as it is: clients leave, come and change places', async () => {
  const clients = [registration()]
  const { flow } = application({ clients })
  const { refreshToken } = await flow.tokens(current)
  clients.unshift({ ...registration(), client_id: 'newcomer' })
  const second = tokensOf(await flow.refresh(current, refreshToken))
  const newcomer = { ...current, registration: { ...photoPrint.registration, client_id: 'newcomer' } }
  await flow.tokens(newcomer)
  clients.pop()
  expect(refusalOf(await flow.refresh(current, second.refreshToken))).toBe('401 invalid_client')
  for (const own of clients) own.client_id = 'renamed'
  expect((await flow.ask(authorizationRequest(newcomer), 'alice')).status).toBe(400)
  await flow.tokens({ ...current, registration: { ...photoPrint.registration, client_id: 'renamed' } })
})
