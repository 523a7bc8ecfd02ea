import type { Response } from 'supertest'
import { nightlyReport, photoBook, type ClientApplication } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import type { Stage } from '../support/flows/every-store'
import { authorizationRequest, formOf, redemption, type Fields } from '../support/flows/flow'
import { memoryStage } from '../support/flows/memory-stage'
import { actingAs, accessTokenType, exchangeOf, exchanging, service } from '../support/flows/token-exchange'
import { outcomeOf } from '../support/flows/outcome'

/** A good request of some kind, and how it is sent. */
interface Kind {
  readonly good: string
  readonly options?: Parameters<typeof memoryStage>[0]
  readonly fields: (set: Stage) => Promise<Fields>
  /** Sends the form; a large one does not fit into a URI. */
  readonly send: (set: Stage, form: string) => Promise<readonly Response[]>
}

const asQueryAndForm: Kind['send'] = async ({ flow }, form) => [
  ...(form.length < 8000 ? [await flow.ask(form, 'alice')] : []),
  await flow.submit('/authorize', form, 'alice'),
]
const asDecision: Kind['send'] = async ({ flow }, form) => [await flow.submit('/authorize', form, 'alice')]
const asToken: Kind['send'] = async ({ flow }, form) => [await flow.submit('/token', form)]

const inBody = ({ registration, secret }: ClientApplication): Fields => ({
  client_id: registration.client_id,
  client_secret: secret,
})

const authorization: Kind = {
  good: 'question',
  fields: async () => authorizationRequest(photoBook),
  send: asQueryAndForm,
}
const decision: Kind = {
  good: 'redirect code',
  fields: async ({ flow }) => {
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    return { ...consentFormOf(page, '/authorize').fields, decision: 'approve' }
  },
  send: asDecision,
}
const code: Kind = {
  good: 'tokens',
  fields: async ({ flow }) => ({
    ...inBody(photoBook),
    ...redemption(photoBook, await flow.approve(photoBook)),
  }),
  send: asToken,
}
const refresh: Kind = {
  good: 'tokens',
  fields: async ({ flow }) => {
    const { refreshToken: refresh_token } = await flow.tokens(photoBook)
    return { ...inBody(photoBook), grant_type: 'refresh_token', refresh_token, scope: 'photos:read' }
  },
  send: asToken,
}
const itself: Kind = {
  good: 'tokens',
  fields: async () => ({
    ...inBody(nightlyReport),
    grant_type: 'client_credentials',
    scope: 'photos:read',
  }),
  send: asToken,
}

const exchange: Kind = {
  good: 'tokens',
  options: exchanging(),
  fields: async ({ flow }) => ({
    ...inBody(service),
    ...exchangeOf((await flow.tokens(photoBook)).accessToken, await actingAs(flow)),
    requested_token_type: accessTokenType,
    scope: 'photos:read',
  }),
  send: asToken,
}

const page = 'page 400 invalid_request'
const redirect = 'redirect invalid_request'
const invalid = '400 invalid_request'
const grant = '400 invalid_grant'
const stranger = '401 invalid_client'
const scope = '400 invalid_scope'

// What comes of a parameter that is omitted, one that is there twice or cannot be decoded, and one of another value.
const table: readonly (readonly [
  request: string,
  kind: Kind,
  name: string,
  omitted: string,
  faulty: string,
  other: string,
])[] = [
  ['authorization', authorization, 'response_type', redirect, redirect, 'redirect unsupported_response_type'],
  ['authorization', authorization, 'client_id', page, page, page],
  ['authorization', authorization, 'redirect_uri', 'question', page, page],
  ['authorization', authorization, 'scope', 'redirect invalid_scope', redirect, 'redirect invalid_scope'],
  ['authorization', authorization, 'state', 'question', redirect, 'question'],
  ['authorization', authorization, 'code_challenge', redirect, redirect, redirect],
  ['authorization', authorization, 'code_challenge_method', redirect, redirect, redirect],
  ['decision', decision, 'authorization_request', page, page, page],
  ['decision', decision, 'decision', page, page, page],
  ['code', code, 'grant_type', invalid, invalid, '400 unsupported_grant_type'],
  ['code', code, 'code', invalid, invalid, grant],
  ['code', code, 'redirect_uri', grant, invalid, grant],
  ['code', code, 'client_id', stranger, invalid, stranger],
  ['code', code, 'code_verifier', grant, invalid, grant],
  ['refresh', refresh, 'refresh_token', invalid, invalid, grant],
  ['refresh', refresh, 'scope', 'tokens', invalid, scope],
  ['client credentials', itself, 'grant_type', invalid, invalid, '400 unsupported_grant_type'],
  ['client credentials', itself, 'client_id', invalid, invalid, stranger],
  ['client credentials', itself, 'client_secret', stranger, invalid, stranger],
  ['client credentials', itself, 'scope', scope, invalid, scope],
  ['exchange', exchange, 'subject_token', invalid, invalid, invalid],
  ['exchange', exchange, 'subject_token_type', invalid, invalid, invalid],
  ['exchange', exchange, 'actor_token', invalid, invalid, invalid],
  ['exchange', exchange, 'actor_token_type', invalid, invalid, invalid],
  ['exchange', exchange, 'requested_token_type', 'tokens', invalid, invalid],
  ['exchange', exchange, 'scope', 'tokens', invalid, scope],
]

type Spell = (name: string, value: string) => string
const pair = (name: string, value: string): string => formOf({ [name]: value })

const asOmitted: readonly [string, Spell][] = [
  ['nothing of it', () => ''],
  ['name=', (name) => `${name}=`],
  ['name', (name) => name],
  ['name[]', (name, value) => pair(`${name}[]`, value)],
  ['name[x]', (name, value) => pair(`${name}[x]`, value)],
]
const asFaulty: readonly [string, Spell][] = [
  ['the same twice', (name, value) => `${pair(name, value)}&${pair(name, value)}`],
  ['another one behind it', (name, value) => `${pair(name, value)}&${pair(name, 'x')}`],
  ['an empty one behind it', (name, value) => `${pair(name, value)}&${name}=`],
  ['a broken percent triplet', (name, value) => `${pair(name, value)}%3`],
  ['bytes that are no UTF-8', (name, value) => `${pair(name, value)}%C3%28`],
]
const asOther: readonly [string, Spell][] = [
  ['60 kB', (name) => pair(name, 'a'.repeat(60_000))],
  ['letters beyond ASCII', (name) => pair(name, 'Grüße 世界')],
  ['__proto__', (name) => pair(name, '__proto__')],
  ['constructor', (name) => pair(name, 'constructor')],
]
const asGood: readonly [string, Spell][] = [
  ['name[] beside it', (name, value) => `${pair(name, value)}&${pair(`${name}[]`, 'x')}`],
  ['name[x] beside it', (name, value) => `${pair(`${name}[x]`, 'x')}&${pair(name, value)}`],
  ['a __proto__ beside it', (name, value) => `__proto__=x&${pair(name, value)}&__proto__[${name}]=x`],
  ['a constructor beside it', (name, value) => `constructor=x&${pair(name, value)}&toString=x&toString=y`],
]

/** What comes of a good request in which one parameter is spelt in another way. */
async function outcomesOf({ fields, send, options }: Kind, name: string, spell: Spell): Promise<string[]> {
  const set = memoryStage(options)
  const good = await fields(set)
  const spelt = spell(name, good[name] ?? '')
  return (await send(set, `${formOf({ ...good, [name]: undefined })}&${spelt}`)).map(outcomeOf)
}

/** The spellings that get something else, and what. */
async function surprises(
  kind: Kind,
  name: string,
  spellings: readonly [string, Spell][],
  expected: string,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const [spelling, spell] of spellings)
    for (const outcome of await outcomesOf(kind, name, spell))
      if (outcome !== expected) found.push(`${spelling}: ${outcome}`)
  return found
}

const titled = table.map((row) => [`${row[0]} request, ${row[2]}:`, row] as const)

describe.each(titled)('%s', (_, [, kind, name, omitted, faulty, other]) => {
  test('[EPT-2] without a value counts as omitted, as does one whose name has brackets', async () => {
    expect(await surprises(kind, name, asOmitted, omitted)).toEqual([])
  })

  test('[EPT-4] twice, or not decodable, refuses the request', async () => {
    expect(await surprises(kind, name, asFaulty, faulty)).toEqual([])
  })

  test('of another value, however odd, is answered as any wrong one', async () => {
    expect(await surprises(kind, name, asOther, other)).toEqual([])
  })

  test('[EPT-3] is what it is, whatever names nobody knows stand beside it', async () => {
    expect(await surprises(kind, name, asGood, kind.good)).toEqual([])
  })
})
