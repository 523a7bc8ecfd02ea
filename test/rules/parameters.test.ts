import { longestValues } from '../../lib/protocol/parameters'
import { photoBook } from '../support/flows/clients'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import { setStage } from '../support/flows/stage'
import * as devices from './parameters/devices'
import * as grants from './parameters/grants'
import * as requests from './parameters/requests'
import * as resources from './parameters/resources'

const page = 'page 400 invalid_request'
const redirect = 'redirect invalid_request'
const invalid = '400 invalid_request'
const grant = '400 invalid_grant'
const stranger = '401 invalid_client'
const scope = '400 invalid_scope'
const target = '400 invalid_target'

// A parameter of an endpoint, a new one too, is a row here: request, name, and what comes of it omitted, faulty, other.
const rows: readonly (readonly [string, string, requests.Kind, string, string, string])[] = [
  [
    'authorization',
    'response_type',
    requests.authorization,
    redirect,
    redirect,
    'redirect unsupported_response_type',
  ],
  ['authorization', 'client_id', requests.authorization, page, page, page],
  ['authorization', 'redirect_uri', requests.authorization, 'question', page, page],
  [
    'authorization',
    'scope',
    requests.authorization,
    'redirect invalid_scope',
    redirect,
    'redirect invalid_scope',
  ],
  ['authorization', 'state', requests.authorization, 'question', redirect, 'question'],
  ['authorization', 'response_mode', requests.authorization, 'question', redirect, redirect],
  ['request object', 'request', requests.requestObject, redirect, page, 'page 400 invalid_request_object'],
  ['authorization', 'code_challenge', requests.authorization, redirect, redirect, redirect],
  ['authorization', 'code_challenge_method', requests.authorization, redirect, redirect, redirect],
  ['decision', 'authorization_request', requests.decision, page, page, page],
  ['decision', 'decision', requests.decision, page, page, page],
  ['code', 'grant_type', requests.code, invalid, invalid, '400 unsupported_grant_type'],
  ['code', 'code', requests.code, invalid, invalid, grant],
  ['code', 'redirect_uri', requests.code, grant, invalid, grant],
  ['code', 'client_id', requests.code, stranger, invalid, stranger],
  ['code', 'code_verifier', requests.code, grant, invalid, grant],
  ['refresh', 'refresh_token', requests.refresh, invalid, invalid, grant],
  ['refresh', 'scope', requests.refresh, 'tokens', invalid, scope],
  ['client credentials', 'grant_type', requests.itself, invalid, invalid, '400 unsupported_grant_type'],
  ['client credentials', 'client_id', requests.itself, invalid, invalid, stranger],
  ['client credentials', 'client_secret', requests.itself, stranger, invalid, stranger],
  ['client credentials', 'scope', requests.itself, scope, invalid, scope],
  ['password', 'username', grants.password, invalid, invalid, grant],
  ['password', 'password', grants.password, invalid, invalid, grant],
  ['JWT bearer', 'assertion', grants.jwtAssertion, invalid, invalid, grant],
  ['JWT bearer', 'scope', grants.jwtAssertion, scope, invalid, scope],
  ['SAML bearer', 'assertion', grants.samlAssertion, invalid, invalid, grant],
  ['SAML bearer', 'scope', grants.samlAssertion, scope, invalid, scope],
  ['exchange', 'subject_token', grants.exchange, invalid, invalid, invalid],
  ['exchange', 'subject_token_type', grants.exchange, invalid, invalid, invalid],
  ['exchange', 'actor_token', grants.exchange, invalid, invalid, invalid],
  ['exchange', 'actor_token_type', grants.exchange, invalid, invalid, invalid],
  ['exchange', 'requested_token_type', grants.exchange, 'tokens', invalid, invalid],
  ['exchange', 'scope', grants.exchange, 'tokens', invalid, scope],
  [
    'authorization',
    'resource',
    resources.authorization,
    'redirect invalid_target',
    redirect,
    'redirect invalid_target',
  ],
  ['code', 'resource', resources.code, 'tokens', invalid, target],
  ['refresh', 'resource', resources.refresh, 'tokens', invalid, target],
  ['client credentials', 'resource', resources.itself, target, invalid, target],
  ['exchange', 'resource', resources.exchange, 'tokens', invalid, target],

  ['device', 'client_id', devices.device, invalid, invalid, stranger],
  ['device', 'client_secret', devices.device, stranger, invalid, stranger],
  ['device', 'scope', devices.device, scope, invalid, scope],
  ['device poll', 'device_code', grants.devicePoll, invalid, invalid, grant],
  ['device entry', 'user_code', devices.deviceEntry, 'form 400', page, 'form 400'],
  ['device entry', 'form', devices.deviceEntry, 'form 400', page, 'form 400'],
  ['revocation', 'token', requests.revocation, invalid, invalid, 'done'],
  ['revocation', 'token_type_hint', requests.revocation, 'done', 'done', 'done'],
  ['revocation', 'client_id', requests.revocation, invalid, invalid, stranger],
  ['revocation', 'client_secret', requests.revocation, stranger, invalid, stranger],
  ['introspection', 'token', requests.introspection, invalid, invalid, 'inactive'],
  ['introspection', 'token_type_hint', requests.introspection, 'active', 'active', 'active'],
  ['introspection', 'client_id', requests.introspection, invalid, invalid, stranger],
  ['introspection', 'client_secret', requests.introspection, stranger, invalid, stranger],
]

type Spell = (name: string, value: string) => string
const pair: Spell = (name, value) => formOf({ [name]: value })
const twice: Spell = (name, value) => `${pair(name, value)}&${pair(name, value)}`

/** What comes of a good request in which one parameter is spelt in other ways, one after the other. */
async function outcomesOf(
  { options, mount, fields, send, good: best }: requests.Kind,
  name: string,
  ...spellings: readonly Spell[]
): Promise<readonly string[]> {
  const set = setStage(options ?? { clients: requests.clients }, mount && { mount })
  const found: string[] = []
  let good = await fields(set)
  for (const spell of spellings) {
    const form = `${formOf({ ...good, [name]: undefined })}&${spell(name, good[name] ?? '')}`
    const outcome = [...new Set((await send(set, form)).map(outcomeOf))].join(' and ')
    found.push(outcome)
    // What succeeds may be used up.
    if (outcome === best) good = await fields(set)
  }
  return found
}

test.each(rows)(
  '[EPT-2, EPT-4] a %s request, %s: another one is wrong, twice refused, without a value as omitted [input-1, input-2]',
  async (_request, name, kind, omitted, faulty, other) => {
    // One of several resources counts like the only one (RFC 8707 2).
    const repeated = name === 'resource' ? kind.good : faulty
    const spellings: readonly Spell[] = [(one) => pair(one, '__proto__'), twice, (one) => `${one}=`]
    expect(await outcomesOf(kind, name, ...spellings)).toEqual([other, repeated, omitted])
  },
)

// One parameter of each kind of form, with its outcome omitted, faulty and of another value.
const spelt: readonly (readonly [string, requests.Kind, string, string, string])[] = [
  ['state', requests.authorization, 'question', redirect, 'question'],
  ['scope', requests.itself, scope, invalid, scope],
]

describe.each(spelt)('%s', (name, kind, omitted, faulty, other) => {
  test.each<[string, Spell]>([
    ['nothing of it', () => ''],
    ['the name alone', (one) => one],
    ['name[]', (one, value) => pair(`${one}[]`, value)],
    ['name[x]', (one, value) => pair(`${one}[x]`, value)],
  ])('[EPT-2] counts as omitted: %s', async (_spelling, spell) => {
    expect(await outcomesOf(kind, name, spell)).toEqual([omitted])
  })

  test.each<[string, Spell]>([
    ['an empty one behind it', (one, value) => `${pair(one, value)}&${one}=`],
    ['another one behind it', (one, value) => `${pair(one, value)}&${pair(one, 'x')}`],
    ['a broken percent triplet', (one, value) => `${pair(one, value)}%3`],
    ['bytes that are no UTF-8', (one, value) => `${pair(one, value)}%C3%28`],
  ])('[EPT-4] is refused: %s', async (_spelling, spell) => {
    expect(await outcomesOf(kind, name, spell)).toEqual([faulty])
  })

  test.each<[string, Spell]>([
    ['as long as it may be', (one) => pair(one, 'a'.repeat(longestValues.get(one) ?? 60_000))],
    ['letters beyond ASCII', (one) => pair(one, 'Grüße 世界')],
    ['constructor', (one) => pair(one, 'constructor')],
  ])('of another value, however odd, is answered as any other: %s', async (_spelling, spell) => {
    expect(await outcomesOf(kind, name, spell)).toEqual([other])
  })

  test.each<[string, Spell]>([
    ['name[]', (one, value) => `${pair(one, value)}&${pair(`${one}[]`, 'x')}`],
    ['name[x]', (one, value) => `${pair(`${one}[x]`, 'x')}&${pair(one, value)}`],
    ['__proto__', (one, value) => `__proto__=x&${pair(one, value)}&__proto__[${one}]=x`],
    ['constructor', (one, value) => `constructor=x&${pair(one, value)}&toString=x&toString=y`],
    [
      'several, repeated and undecodable',
      (one, value) => `${pair(one, value)}&nonce=x&resource=a&resource=b&%zz=%zz`,
    ],
  ])('[EPT-3] is the same beside an unknown parameter: %s [input-3]', async (_spelling, spell) => {
    expect(await outcomesOf(kind, name, spell)).toEqual([kind.good])
    expect({}).not.toHaveProperty(name)
  })
})

test('[EPT-4] the answers, too, have each parameter once', async () => {
  const { flow } = setStage()
  // redirectionOf refuses a repeated one.
  const asked = authorizationRequest(photoBook)
  const denial = await flow.decide(await flow.ask(asked, 'alice'), 'deny', 'alice')
  expect(Object.keys(redirectionOf(denial).parameters)).toEqual([
    'error',
    'error_description',
    'state',
    'iss',
  ])
  const approval = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
  expect(Object.keys(redirectionOf(approval).parameters)).toEqual(['code', 'state', 'iss'])
})
