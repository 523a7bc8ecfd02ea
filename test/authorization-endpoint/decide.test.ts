import { authorize } from '../../lib/authorization-endpoint/authorize'
import { decide, type Decision } from '../../lib/authorization-endpoint/decide'
import {
  codeResponseType,
  implicit,
  type ResponseType,
  ResponseTypes,
} from '../../lib/authorization-endpoint/response-types'
import { commit } from '../../lib/authorization/commit'
import { approveWithCode } from '../../lib/authorization/decision'
import { issueAccessToken } from '../../lib/authorization/issue'
import { redeemCode } from '../../lib/authorization/redeem-code'
import type { Client } from '../../lib/protocol/client'
import { credentialId } from '../../lib/protocol/credential'
import { temporarilyUnavailable } from '../../lib/protocol/oauth-error'
import { redemption } from '../support/authorization/authorization'
import { context, later, lifetimes } from '../support/authorization/issue-context'
import { clientWith } from '../support/authorization/client'
import { bentServer, clientsOf, type ServerBend, serverWith, watchedStore } from '../support/rooms/endpoints'
import { parametersOf } from '../support/rooms/parameters'
import { hostWhere } from '../support/rooms/watched-host'

const parameters = parametersOf({
  response_type: 'code',
  client_id: 'photo-printer',
  redirect_uri: 'https://printer.example/callback',
  scope: 'photos.read',
  state: 'a&b',
})

const codesOf = async (outcome: ReturnType<typeof decide>) => {
  const decided = await outcome
  return decided.kind === 'redirect' ? new URL(decided.location).searchParams.getAll('code') : []
}

const failing = () => Promise.reject(new Error('It waits.'))

/** An endpoint at which alice is looking at the question, and her decision. */
async function asked(bend: ServerBend = {}) {
  const store = watchedStore()
  const endpoint = serverWith({ store, ...bend })
  const host = hostWhere()
  await authorize(endpoint, parameters, host)
  const decision: Decision = {
    consentToken: host.questions[0]?.consentToken ?? '',
    subject: 'alice',
    login: undefined,
    approved: true,
    ownerReadAt: endpoint.now(),
  }
  return { store, endpoint, decision }
}

const parametersIn = (outcome: Awaited<ReturnType<typeof decide>>) =>
  outcome.kind === 'redirect' ? Object.fromEntries(new URL(outcome.location).searchParams) : outcome

describe('decide', () => {
  it('answers an approval with a code, state and iss', async () => {
    const { store, endpoint, decision } = await asked()
    const outcome = await decide(endpoint, decision)
    expect(outcome).toMatchObject({ kind: 'redirect', error: undefined, clientId: 'photo-printer' })
    expect(parametersIn(outcome)).toEqual({
      code: expect.stringMatching(/^ac_[A-Za-z0-9_-]{64}$/),
      state: 'a&b',
      iss: 'https://photos.example',
    })
    expect(store.saved.at(-1)).toMatchObject({ state: 'approved', subject: 'alice', scope: ['photos.read'] })
  })

  it('answers a denial with access_denied and no code', async () => {
    const { store, endpoint, decision } = await asked()
    const outcome = await decide(endpoint, { ...decision, approved: false })
    expect(outcome).toMatchObject({
      kind: 'redirect',
      error: { code: 'access_denied', reason: 'owner_denied' },
    })
    expect(parametersIn(outcome)).toEqual({
      error: 'access_denied',
      error_description: 'The resource owner denied the request.',
      state: 'a&b',
      iss: 'https://photos.example',
    })
    expect(store.saved.at(-1)).toHaveProperty('state', 'denied')
  })

  it('answers in the fragment where the response type does', async () => {
    const responseTypes = new ResponseTypes([{ ...codeResponseType, mode: 'fragment' }])
    for (const approved of [true, false]) {
      const { endpoint, decision } = await asked({ responseTypes })
      const outcome = await decide(endpoint, { ...decision, approved })
      expect(outcome).toHaveProperty(
        'location',
        expect.stringMatching(/callback#(?:code|error)=.*&state=a%26b&iss=/),
      )
    }
  })

  it.each<[string, Partial<Decision>, string]>([
    ['a consent token that is garbage', { consentToken: 'garbage' }, 'authorization_request_unknown'],
    [
      'a credential of another kind',
      { consentToken: `ac_${'A'.repeat(64)}` },
      'authorization_request_unknown',
    ],
    [
      'a consent token of no record',
      { consentToken: `ar_${'A'.repeat(64)}` },
      'authorization_request_not_open',
    ],
    ['another owner', { subject: 'bob' }, 'authorization_request_of_another_owner'],
  ])('refuses %s on a page, and writes nothing', async (_what, bend, reason) => {
    for (const approved of [true, false]) {
      const { store, endpoint, decision } = await asked()
      const outcome = await decide(endpoint, { ...decision, ...bend, approved })
      expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'invalid_request', reason } })
      expect(store.saved).toHaveLength(1)
    }
  })

  it('refuses a consent token with the id of a record and another secret', async () => {
    const { store, endpoint, decision } = await asked()
    const consentToken =
      decision.consentToken.slice(0, -4) + (decision.consentToken.endsWith('AAAA') ? 'BBBB' : 'AAAA')
    const outcome = await decide(endpoint, { ...decision, consentToken })
    expect(outcome).toMatchObject({ kind: 'refused', error: { reason: 'authorization_request_unknown' } })
    expect(store.saved).toHaveLength(1)
  })

  it.each([true, false])(
    'takes one decision only: approved %s, and then the other is refused',
    async (first) => {
      const { endpoint, decision } = await asked()
      await decide(endpoint, { ...decision, approved: first })
      expect(await decide(endpoint, { ...decision, approved: !first })).toMatchObject({
        kind: 'refused',
        error: { reason: 'authorization_request_not_open' },
      })
    },
  )

  it('lets one way win of many decisions that come at once, with one answer for all who took it', async () => {
    const { endpoint, decision } = await asked()
    const decisions = Array.from({ length: 20 }, (_, index) => ({ ...decision, approved: index % 2 === 0 }))
    const outcomes = await Promise.all(decisions.map((one) => decide(endpoint, one)))
    const answers = outcomes.flatMap((outcome) => (outcome.kind === 'redirect' ? outcome.location : []))
    expect(answers).toHaveLength(10)
    expect(new Set(answers).size).toBe(1)
  })

  it('refuses a decision that took too long [consent-27]', async () => {
    const { endpoint, decision } = await asked()
    const late = { ...endpoint, issueContext: () => later(600) }
    expect(await decide(late, decision)).toMatchObject({
      kind: 'refused',
      error: { reason: 'authorization_request_expired' },
    })
    const justInTime = { ...endpoint, issueContext: () => later(599) }
    expect(await decide(justInTime, decision)).toMatchObject({ kind: 'redirect', error: undefined })
  })
})

const registeredNow = (bend: Partial<Client>) => ({ findClient: clientsOf({ ...clientWith(), ...bend }) })

describe('decide, when the same decision comes again', () => {
  it.each([true, false])('gives the same answer: approved %s', async (approved) => {
    const { store, endpoint, decision } = await asked()
    const first = await decide(endpoint, { ...decision, approved })
    const again = await decide(endpoint, { ...decision, approved })
    expect(again).toEqual(first)
    // What was decided is written as it is, because the owner may not have learnt that it is stored.
    expect(store.saved.at(-1)).toEqual(store.saved.at(-2))
    expect(store.saved).toHaveLength(3)
  })

  it('waits for a code that is on its way to the client, and gives none that is redeemed by then', async () => {
    const { store, endpoint, decision } = await asked()
    const [code] = await codesOf(decide(endpoint, decision))
    let waited = 0
    const letArrive = async () => {
      waited += 1
      await commit(
        store,
        credentialId('authorizationCode', code ?? '') ?? '',
        (current) => redeemCode(current, redemption(code ?? ''), context()),
        context().random,
      )
    }
    const outcome = await decide({ ...endpoint, letArrive }, decision)
    expect(outcome).toMatchObject({ kind: 'done', client: { client_id: 'photo-printer' } })
    expect(waited).toBe(1)
    const saved = store.saved.length
    expect(await decide({ ...endpoint, letArrive }, decision)).toHaveProperty('kind', 'done')
    expect([waited, store.saved.length]).toEqual([1, saved])
  })

  it('refuses an authorization that was revoked meanwhile, on a page', async () => {
    const { store, endpoint, decision } = await asked()
    await decide(endpoint, decision)
    const letArrive = () => store.remove(credentialId('authorizationRequest', decision.consentToken) ?? '')
    expect(await decide({ ...endpoint, letArrive }, decision)).toMatchObject({
      kind: 'refused',
      error: { reason: 'authorization_request_not_open' },
    })
  })

  it.each<[string, number, Partial<Decision>]>([
    ['whose code must have arrived', 2, {}],
    ['of another owner', 0, { subject: 'bob' }],
    ['that is the other one', 0, { approved: false }],
  ])('does not wait for one %s', async (_which, seconds, bend) => {
    const { endpoint, decision } = await asked()
    await decide(endpoint, decision)
    const outcome = await decide(
      { ...endpoint, letArrive: failing, issueContext: () => later(seconds) },
      { ...decision, ...bend },
    )
    expect(outcome).not.toHaveProperty('error.code', 'server_error')
  })

  it('gives no code after its time, and none that is burnt', async () => {
    const { endpoint, decision } = await asked()
    await decide(endpoint, decision)
    const late = { ...endpoint, issueContext: () => later(lifetimes.authorizationCode) }
    expect(await decide(late, decision)).toMatchObject({
      error: { reason: 'authorization_request_not_open' },
    })
  })

  it('gives no access token twice', async () => {
    const findClient = clientsOf({ ...clientWith(), response_types: ['code'] })
    const withToken: ResponseType = {
      ...codeResponseType,
      mode: 'fragment',
      approve(proposed, at) {
        const { authorization, code } = approveWithCode(proposed, at)
        return { ...issueAccessToken(authorization, proposed.scope, at), parameters: { code } }
      },
    }
    for (const type of [withToken, { ...implicit(), name: 'code' }]) {
      const { endpoint, decision } = await asked({ findClient, responseTypes: new ResponseTypes([type]) })
      expect(await decide(endpoint, decision)).toHaveProperty('kind', 'redirect')
      expect(await decide(endpoint, decision)).toHaveProperty('kind', 'done')
    }
  })

  it('gives no other code where a response type of the host does not make the same one again', async () => {
    const own: ResponseType = {
      ...codeResponseType,
      approve: (proposed, at) => codeResponseType.approve(proposed, { ...at, codeSecrets: at.random }),
    }
    const { store, endpoint, decision } = await asked({ responseTypes: new ResponseTypes([own]) })
    await decide(endpoint, decision)
    expect(await decide(endpoint, decision)).toHaveProperty('kind', 'done')
    expect(store.saved).toHaveLength(2)
  })

  it('counts the request as open no more, once', async () => {
    const ended: string[] = []
    const openRequests = { opened: () => {}, ended: (subject: string) => void ended.push(subject) }
    const { endpoint, decision } = await asked({ openRequests })
    for (let time = 0; time < 3; time++) await decide(endpoint, decision)
    expect(ended).toEqual(['alice'])
  })

  it.each<[string, Partial<Decision>, ServerBend]>([
    ['is denied', { approved: false }, {}],
    ['of another owner is approved', { subject: 'bob' }, {}],
    ['has expired', {}, { issueContext: () => later(600) }],
    ['asks for a scope that its client has lost', {}, registeredNow({ scope: ['photos.write'] })],
  ])('counts a request that %s as open still', async (_what, decided, bend) => {
    const ended: string[] = []
    const openRequests = { opened: () => {}, ended: (subject: string) => void ended.push(subject) }
    const { endpoint, decision } = await asked({ openRequests })
    await decide(bentServer(endpoint, bend), { ...decision, ...decided })
    expect(ended).toEqual([])
  })
})

describe('decide, on what was withdrawn while the owner looked at the page:', () => {
  it('a withdrawn redirection URI is refused on a page, and works again when it is back', async () => {
    for (const approved of [true, false]) {
      const { store, endpoint, decision } = await asked()
      const without = bentServer(endpoint, registeredNow({ redirect_uris: ['https://printer.example/new'] }))
      const outcome = await decide(without, { ...decision, approved })
      expect(outcome).toMatchObject({ kind: 'refused', error: { reason: 'redirect_uri_mismatch' } })
      expect(store.saved).toHaveLength(1)
      expect(await decide(endpoint, decision)).toMatchObject({ kind: 'redirect', error: undefined })
    }
  })

  it.each<[string, Partial<Client>, string]>([
    ['a response type', { response_types: ['token'] }, 'response_type_not_registered'],
    ['a scope', { scope: ['photos.write'] }, 'scope_not_allowed'],
  ])(
    '%s redirects to the client with an error, but a denial needs none of it',
    async (_what, bend, reason) => {
      const { store, endpoint, decision } = await asked()
      const without = bentServer(endpoint, registeredNow(bend))
      expect(await decide(without, decision)).toMatchObject({ kind: 'redirect', error: { reason } })
      expect(store.saved).toHaveLength(1)
      expect(await decide(without, { ...decision, subject: 'bob' })).toHaveProperty('kind', 'refused')
      const denial = await decide(without, { ...decision, approved: false })
      expect(denial).toMatchObject({ kind: 'redirect', error: { reason: 'owner_denied' } })
    },
  )

  it('is held against an answer that is asked for again, too', async () => {
    const { endpoint, decision } = await asked()
    await decide(endpoint, decision)
    const outcomes = [
      [{ redirect_uris: ['https://printer.example/new'] }, 'refused', 'redirect_uri_mismatch'],
      [{ response_types: ['token'] }, 'redirect', 'response_type_not_registered'],
      [{ disabled: true }, 'refused', 'client_disabled'],
    ] as const
    for (const [bend, kind, reason] of outcomes)
      expect(await decide(bentServer(endpoint, registeredNow(bend)), decision)).toMatchObject({
        kind,
        error: { reason },
      })
  })
})

describe('decide with a failing store', () => {
  it('shows the resource owner that the request cannot be read', async () => {
    const { endpoint, decision, store } = await asked()
    const error = temporarilyUnavailable('store_unavailable', 'x')
    const down = { ...endpoint, store: { ...store, find: () => Promise.reject(error) } }
    expect(await decide(down, decision)).toEqual({ kind: 'refused', error })
  })

  it.each([
    ['temporarily_unavailable', temporarilyUnavailable('store_unavailable', 'x')],
    ['server_error', new Error('broken')],
  ])('sends the client %s when the decision cannot be written', async (code, trouble) => {
    const { endpoint, decision, store } = await asked()
    const down = { ...endpoint, store: { ...store, save: () => Promise.reject(trouble) } }
    expect(parametersIn(await decide(down, decision))).toMatchObject({ error: code, state: 'a&b' })
  })

  it('sends the client an error when the response type was withdrawn meanwhile', async () => {
    const { endpoint, decision } = await asked()
    const outcome = await decide({ ...endpoint, responseTypes: new ResponseTypes([]) }, decision)
    expect(parametersIn(outcome)).toMatchObject({ error: 'unsupported_response_type', state: 'a&b' })
  })

  it('shows the resource owner, not the client, that another decision came first', async () => {
    const { endpoint, decision, store } = await asked()
    let raced = false
    const save: typeof store.save = async (...given) => {
      if (!raced) {
        raced = true
        await decide(endpoint, { ...decision, approved: false })
      }
      return store.save(...given)
    }
    expect(await decide({ ...endpoint, store: { ...store, save } }, decision)).toMatchObject({
      kind: 'refused',
      error: { reason: 'authorization_request_not_open' },
    })
  })
})
