import express, { type RequestHandler } from 'express'
import type { Response } from 'supertest'
import { type DetailType, richAuthorizationRequests } from '../../docs/examples/rich-authorization-requests'
import type { AuthorizationServerOptions } from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { createBearerGuard } from '../../lib/paths/guards'
import { jwtAccessTokens } from '../../lib/paths/jwt'
import { pushedAuthorizationRequests, requestObjects } from '../../lib/paths/pushed-requests'
import { canonicalOptions, type Mount } from '../support/flows/application'
import { bent, type ClientApplication } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { deviceCode, deviceSecret } from '../support/flows/device-stage'
import { authorizationRequest, type Fields, Flow } from '../support/flows/flow'
import { partOf, sharedKeys } from '../support/flows/jwt-tokens'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf, fragmentOf } from '../support/flows/redirection'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { objectClaims, requestObject, signingPrint } from '../support/flows/request-object'
import { job, mountResources, photosApi, withResources } from '../support/flows/resources'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { mistakesWith } from '../support/mistakes'
import { printer } from '../support/registrations'
import { exchangeOf, tokenExchangeName } from '../support/flows/token-exchange'

const name = 'authorization_details'
const { issuer } = canonicalOptions

const types: Readonly<Record<string, DetailType>> = {
  payment: {
    label: 'Pay',
    accepts: ({ amount, ...others }) => typeof amount === 'number' && Object.keys(others).length === 1,
    describe: ({ amount }) => `${JSON.stringify(amount)} <euros>`,
  },
  folder: {
    label: 'Folder',
    accepts: () => true,
    describe: ({ actions }) => `to ${JSON.stringify(actions)}`,
    mayGrant: () => true,
  },
  medical: { label: 'Health', accepts: () => true, describe: () => 'all' },
}
const details = richAuthorizationRequests(types)

const payment = { type: 'payment', amount: 100 }
const folder = { type: 'folder', actions: ['read', 'write'], path: '/a' }
const approved = [payment, folder]

const using = (...names: readonly string[]) => ({ authorization_details_types: names })
const own = using('payment', 'folder')
const grant_types = ['authorization_code', 'refresh_token', 'implicit', deviceCode, tokenExchangeName]
const shop = bent(signingPrint, {
  grant_types,
  response_types: ['code', 'token'],
  scope: 'photos:read',
  ...own,
})
const backup = bent(job, own)
const clinic = bent(job, { client_id: 'clinic', ...using('medical') })

const optionsWith = (bend: Partial<AuthorizationServerOptions> = {}) => {
  const keys = sharedKeys()
  const reading = [requestObjects(), pushedAuthorizationRequests()]
  return withResources({
    clients: [shop, backup, clinic].map(({ registration }) => registration),
    defaultResource: photosApi,
    ...bend,
    plugins: [
      ...reading,
      deviceAuthorization({ secret: deviceSecret }),
      keys,
      jwtAccessTokens({ keys }),
      details,
    ],
  })
}
const bySignature = { resource: photosApi, verify: 'signature' } as const
const access: RequestHandler = (request, response) => void response.json(request.oauth)
const mount: Mount = (app, oauth) => {
  mountResources(app, oauth)
  app.get('/signed', oauth.bearerGuard(bySignature), access)
}
const opener = (stage: SetStage) => (bend?: Parameters<typeof optionsWith>[0]) =>
  stage(optionsWith(bend), { mount })

const asking = (value: unknown) => ({ [name]: JSON.stringify(value) })
const requestOf = (value: unknown = approved) => ({ ...authorizationRequest(shop), ...asking(value) })
const approve = async ({ flow }: Stage, value?: unknown) => {
  const page = await flow.ask(requestOf(value), 'alice')
  return flow.decide(page, 'approve', 'alice')
}
const tokensFor = async (set: Stage, value?: unknown) =>
  (await set.flow.redeem(shop, codeOf(await approve(set, value)))).body
const introspected = async ({ flow }: Stage, token: string) =>
  (await flow.introspect(backup, token)).body[name]
const routed = async ({ flow }: Pick<Stage, 'flow'>, token: string, path = '/api/photos') =>
  (await flow.open(path, undefined, { Authorization: `Bearer ${token}` })).body[name]

const refused = `400 invalid_${name}`
/** The details of a token response: in it, in its JWT, in introspection, and at two routes. Else the refusal. */
async function shownBy(set: Stage, response: Response) {
  if (response.status !== 200) return outcomeOf(response)
  const { access_token: token, ...body } = response.body
  const atRoutes = [await routed(set, token), await routed(set, token, '/signed')]
  return [body[name], partOf(token, 1)[name], await introspected(set, token), ...atRoutes]
}
const everywhere = (given: unknown) => (given === refused ? refused : Array.from({ length: 5 }, () => given))

describeOnStores('Authorization details (RFC 9396)', (stage) => {
  const open = opener(stage)

  test('stand on the page, in metadata, responses, tokens, introspection and routes, and a refresh keeps them', async () => {
    const set = open()
    const page = await set.flow.ask(requestOf(), 'alice')
    expect(page.text).toMatch(
      /Pay[^]*100 &lt;euros&gt;[^]*Folder[^]*to \[&quot;read&quot;,&quot;write&quot;\]/,
    )
    const metadata = (await set.flow.open('/.well-known/oauth-authorization-server')).body
    expect(metadata[`${name}_types_supported`]).toEqual(['payment', 'folder', 'medical'])
    const first = await set.flow.redeem(shop, codeOf(await approve(set)))
    const second = await set.flow.refresh(shop, first.body.refresh_token)
    for (const response of [first, second]) expect(await shownBy(set, response)).toEqual(everywhere(approved))
  })

  test('reach the routes of a process that knows the keys alone', async () => {
    const set = open()
    const { access_token: token } = await tokensFor(set)
    const jwks = (await set.flow.open('/.well-known/jwks.json')).body
    const jwt = { jwks, audience: photosApi }
    const guard = createBearerGuard({ issuer, jwt, plugins: [details], clock: set.clock.read })
    const flow = new Flow(express().get('/api/photos', guard('photos:read'), access))
    expect(await routed({ flow }, token)).toEqual(approved)
  })

  test('that nobody asks for are nowhere', async () => {
    const set = open()
    const response = await set.flow.redeem(shop, await set.flow.approve(shop))
    expect(await shownBy(set, response)).toEqual(everywhere(undefined))
  })

  type Way = (set: Stage) => Promise<unknown>
  const ofCode = async ({ flow }: Stage, fields: object) => {
    const page = await flow.ask({ client_id: 'photo-print', ...fields }, 'alice')
    return (await flow.redeem(shop, codeOf(await flow.decide(page, 'approve', 'alice')))).body[name]
  }
  test.each<[string, Way]>([
    [
      'a pushed request',
      async (set) => {
        const { request_uri } = (await set.flow.request(shop, requestOf(), '/par')).body
        return ofCode(set, { request_uri })
      },
    ],
    [
      'a request object, as a list',
      async (set) => {
        const now = Math.floor(set.clock.read() / 1000)
        return ofCode(set, { request: requestObject({ ...objectClaims(now, shop), [name]: approved }) })
      },
    ],
    [
      'a device',
      async ({ flow }) => {
        const { body } = await flow.request(shop, asking(approved), '/device_authorization')
        const page = await flow.enterCode({ user_code: body.user_code }, 'alice')
        expect(page.text).toContain('100 &lt;euros&gt;')
        await flow.submit(
          '/device',
          { ...consentFormOf(page, '/device').fields, decision: 'approve' },
          'alice',
        )
        const poll = { grant_type: deviceCode, device_code: body.device_code }
        return (await flow.request(shop, poll)).body[name]
      },
    ],
    [
      'the implicit grant, whose fragment has none',
      async (set) => {
        const asked = { ...requestOf(), response_type: 'token', code_challenge: undefined }
        const page = await set.flow.ask({ ...asked, code_challenge_method: undefined }, 'alice')
        const { parameters } = fragmentOf(await set.flow.decide(page, 'approve', 'alice'))
        expect(parameters).not.toHaveProperty(name)
        return introspected(set, String(parameters['access_token']))
      },
    ],
  ])('come by %s', async (_way, go) => {
    expect(await go(open())).toEqual(approved)
  })

  test.each<[string, unknown, unknown]>([
    ['one of two', [payment], [payment]],
    ['a part of the actions', [{ ...folder, actions: ['read'] }], undefined],
    ['members in another order', [{ path: '/a', actions: ['read', 'write'], type: 'folder' }], [folder]],
    ['another value', [{ ...payment, amount: 101 }], refused],
    ['an action more', [{ ...folder, actions: ['read', 'delete'] }], refused],
    ['no actions', [{ ...folder, actions: [] }], refused],
    ['a member less', [{ type: 'folder', path: '/a' }], refused],
    ['a member more', [{ ...folder, all: true }], refused],
    ['another member', [{ ...payment, type: 'folder' }], refused],
  ])('are narrowed by a token request, for its token alone: %s', async (_what, asked, given = asked) => {
    const set = open()
    const first = await tokensFor(set)
    const response = await set.flow.refresh(shop, first.refresh_token, asking(asked))
    expect(await shownBy(set, response)).toEqual(everywhere(given))
    const { refresh_token: next = first.refresh_token } = response.body
    expect((await set.flow.refresh(shop, next)).body[name]).toEqual(approved)
  })

  test('are not added to a code that was approved without them', async () => {
    const { flow } = open()
    const code = await flow.approve(shop)
    expect(outcomeOf(await flow.redeem(shop, code, asking([payment])))).toBe(refused)
  })

  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const filler = (length: number) => ({ type: 'folder', note: 'ä'.repeat(length) })
  test.each<[string, unknown]>([
    ['no JSON', '[{'],
    ['no list', payment],
    ['an empty list', []],
    ['an entry that is a list', [[payment]]],
    ['an entry that is null', [null]],
    ['an entry without a type', [{ amount: 1 }]],
    ['a type that is no text', [{ type: ['payment'], amount: 1 }]],
    ['an unknown type', [{ type: 'unknown' }]],
    ['a type named __proto__', [{ type: '__proto__' }]],
    ['a type named constructor', [{ type: 'constructor' }]],
    ['a type of another client', [{ type: 'medical' }]],
    ['a good entry and a bad one', [payment, { ...payment, amount: 'all' }]],
    ['a member that the type does not know', [{ ...payment, to: 'me' }]],
    ['a type by __proto__', '[{"__proto__":{"type":"folder"}}]'],
    ['a member __proto__ far inside', '[{"type":"folder","a":[{"__proto__":{}}]}]'],
    ['100 entries', Array.from({ length: 100 }, () => ({ type: 'folder' }))],
    ['a huge entry', [filler(2100)]],
    ['numbers that grow', `[{"type":"folder","a":[${Array.from({ length: 500 }, () => '1e20').join()}]}]`],
    ['deep lists', `[{"type":"folder","a":${'['.repeat(1500)}${']'.repeat(1500)}}]`],
  ])('are refused with %s', async (_what, value) => {
    const set = open()
    const { refresh_token: token } = await tokensFor(set)
    const asked = { ...requestOf(), [name]: text(value) }
    expect([
      outcomeOf(await set.flow.ask(asked, 'alice')),
      outcomeOf(await set.flow.request(shop, asked, '/par')),
      outcomeOf(await set.flow.refresh(shop, token, { [name]: text(value) })),
    ]).toEqual([`redirect invalid_${name}`, refused, refused])
    expect(set.failures.map(({ cause }) => cause)).toEqual([undefined, undefined, undefined])
  })

  test('are refused twice, and left out if empty', async () => {
    const set = open()
    const { refresh_token: token } = await tokensFor(set)
    const twice = { [name]: [JSON.stringify([payment]), JSON.stringify([payment])] }
    expect(outcomeOf(await set.flow.ask({ ...requestOf(), ...twice }, 'alice'))).toBe(
      'redirect invalid_request',
    )
    expect(outcomeOf(await set.flow.refresh(shop, token, twice))).toBe('400 invalid_request')
    expect((await set.flow.refresh(shop, token, { [name]: '' })).body[name]).toEqual(approved)
  })

  test('may have 16 entries of 4096 bytes in all', async () => {
    const set = open()
    const value = [filler(1800), ...Array.from({ length: 15 }, () => ({ type: 'folder' }))]
    const { access_token: token, [name]: given } = await tokensFor(set, value)
    expect([given, await routed(set, token)]).toEqual([value, value])
  })

  test.each<[string, unknown, ClientApplication, unknown]>([
    ['that its type grants', [folder], backup, [folder]],
    ['that its type does not grant', [payment], backup, refused],
    ['of another client', [folder], clinic, refused],
  ])('a client gets for itself those %s', async (_what, value, client, given) => {
    const set = open()
    const fields = { grant_type: 'client_credentials', scope: 'photos:read', ...asking(value) }
    const response = await set.flow.request(client, fields)
    expect(await shownBy(set, response)).toEqual(everywhere(given))
  })

  test.each<[string, Fields, unknown]>([
    ['asks for none', {}, undefined],
    ['asks for a part', asking([payment]), [payment]],
    ['asks for more', asking([{ ...payment, amount: 101 }]), refused],
    ['asks for what the token has lost', asking([folder]), refused],
  ])('an exchange that %s never gets more than the token has', async (_what, fields, given) => {
    const set = open()
    const { refresh_token } = await tokensFor(set)
    const narrow = (await set.flow.refresh(shop, refresh_token, asking([payment]))).body
    const response = await set.flow.request(shop, exchangeOf(narrow.access_token, fields))
    expect(await shownBy(set, response)).toEqual(everywhere(given))
  })

  test('a remembered consent counts for the same details alone', async () => {
    const set = open({ rememberConsent: true })
    codeOf(await approve(set))
    const outcomes: string[] = []
    for (const value of [
      approved,
      [folder, payment],
      [payment],
      [{ ...payment, amount: 1 }, folder],
      undefined,
    ])
      outcomes.push(
        outcomeOf(await set.flow.ask({ ...requestOf(value), ...(value ? {} : { [name]: '' }) }, 'alice')),
      )
    expect(outcomes).toEqual(['redirect code', 'redirect code', 'question', 'question', 'question'])
  })

  test('a client loses those whose type its registration no longer names', async () => {
    let { registration } = shop
    const set = open({
      clients: { find: async (id) => (id === 'photo-print' ? registration : backup.registration) },
    })
    const { refresh_token: token } = await tokensFor(set)
    registration = bent(shop, using('folder')).registration
    expect((await set.flow.refresh(shop, token)).body[name]).toEqual([folder])
  })
})

describeRegistration('A registration', (stage) => {
  test.each([
    ['states', ['payment'], ['payment']],
    ['does not get', ['payment', 'unknown'], undefined],
  ])('%s types of authorization details: %j', async (_what, stated, got) => {
    const { register } = stage({}, { plugins: [details] })
    const response = await register({ ...notesApp, authorization_details_types: stated })
    expect([response.status, response.body.authorization_details_types]).toEqual([201, got])
  })

  test('is refused at the options with types that are no list', () => {
    const clients = [{ ...printer, authorization_details_types: 'payment' }]
    expect(mistakesWith({ clients, plugins: [details] })).toMatchObject([
      { message: expect.stringContaining('must be a list of texts.') },
    ])
  })
})
