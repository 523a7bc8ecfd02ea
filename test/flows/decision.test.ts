import { randomBytes } from 'node:crypto'
import { codeToken } from '../../docs/examples/code-token'
import { implicit, type ClientRegistration, generateClientSecret } from '../../lib/index'
import { type Mount, application } from '../support/flows/application'
import { bent, type ClientApplication, photoBook, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf, fragmentOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { tokensOf, refusalOf } from '../support/flows/tokens'
import { answeredPageOf } from '../support/flows/answered-page'
import { recordingStage } from '../support/flows/recording-stage'

const asked = authorizationRequest(photoBook)
const proxied: Mount = (app, oauth) => {
  app.use((request, _response, next) => {
    Object.defineProperty(request, 'secure', { value: true })
    next()
  })
  app.all('/authorize', oauth.authorize())
}
const open = async ({ flow }: Stage) => flow.ask(asked, 'alice')

describeOnStores('The decision', (stage) => {
  test.each([
    ['approve', 'deny'],
    ['deny', 'approve'],
  ])('is taken one way: after %s, %s is refused [consent-26]', async (first, second) => {
    const set = stage()
    const page = await open(set)
    redirectionOf(await set.flow.decide(page, first, 'alice'))
    expect(errorPageOf(await set.flow.decide(page, second, 'alice'))).toBe('400 invalid_request')
  })

  test.each([
    [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'null' }],
    [{ 'Sec-Fetch-Site': 'same-site' }],
    [{ Origin: 'https://evil.example' }],
    [{ Origin: 'http://localhost:8080' }],
    [{ Origin: 'http://localhost.evil.example' }],
    [{ Origin: '' }],
  ])('from another page, by %j, is refused, and spoils nothing [consent-1]', async (headers) => {
    const set = stage()
    const page = await open(set)
    const response = await set.flow.decide(page, 'approve', 'alice', headers)
    expect(errorPageOf(response)).toBe('400 invalid_request')
    expect(set.failures).toMatchObject([{ reason: 'decision_cross_site' }])
    codeOf(await set.flow.decide(page, 'approve', 'alice'))
  })

  test('is of the origin of the issuer, wherever the server itself is', async () => {
    const set = stage({ issuer: 'https://id.example/oauth' }, { mount: proxied })
    const page = await set.flow.ask(asked, 'alice')
    const answer = await set.flow.decide(page, 'approve', 'alice', { Origin: 'https://id.example' })
    expect(codeOf(answer)).toMatch(/^ac_/)
  })

  test.each([
    { Origin: 'http://localhost' },
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: 'null' },
  ])('from the consent page is taken with %j', async (headers) => {
    const set = stage()
    expect(codeOf(await set.flow.decide(await open(set), 'approve', 'alice', headers))).toMatch(/^ac_/)
  })

  test('with another value, none or two is no approval, and spoils nothing [consent-30]', async () => {
    const set = stage()
    const page = await open(set)
    const { action, fields } = consentFormOf(page, '/authorize')
    const handle = `authorization_request=${fields['authorization_request']}`
    for (const decision of [
      'Approve',
      'approve+',
      'true',
      'toString',
      '',
      'approve&decision=approve',
      'approve%FF',
    ])
      expect(errorPageOf(await set.flow.submit(action, `${handle}&decision=${decision}`, 'alice'))).toBe(
        '400 invalid_request',
      )
    codeOf(await set.flow.decide(page, 'approve', 'alice'))
  })

  test('needs the consent token of its own page, by POST: one that is missing or made up is refused [consent-2, consent-3]', async () => {
    const set = stage()
    const page = await open(set)
    const genuine = String(consentFormOf(page, '/authorize').fields['authorization_request'])
    const id = genuine.slice(3, 25)
    const letters = () => randomBytes(49).toString('base64url')
    const handles = [
      undefined,
      `ar_${letters().slice(0, 65)}`,
      `ar_${id}${letters().slice(0, 43)}`,
      genuine.replace('ar_', 'ac_'),
      `${genuine}A`,
    ]
    for (const authorization_request of handles) {
      const fields = { authorization_request, decision: 'approve' }
      expect(errorPageOf(await set.flow.submit('/authorize', fields, 'alice'))).toBe('400 invalid_request')
    }
    const byGet = { authorization_request: genuine, decision: 'approve' }
    expect(errorPageOf(await set.flow.ask(byGet, 'alice'))).toBe('400 invalid_request')
    codeOf(await set.flow.decide(page, 'approve', 'alice'))
  })

  test('decides about the stored request, not about other fields of the form [consent-11]', async () => {
    const set = stage()
    const { fields } = consentFormOf(
      await set.flow.ask({ ...asked, scope: 'photos:read' }, 'alice'),
      '/authorize',
    )
    const more = { ...authorizationRequest(photoPrint), scope: undefined, state: 'forged' }
    const response = await set.flow.submit('/authorize', { ...more, ...fields, decision: 'approve' }, 'alice')
    const { uri, parameters } = redirectionOf(response)
    expect({ uri, state: parameters['state'] }).toEqual({
      uri: 'https://book.example/callback',
      state: asked.state,
    })
    const { scope } = tokensOf(await set.flow.redeem(photoBook, codeOf(response)))
    expect(scope).toBe('photos:read')
  })
})

const wide = bent(photoBook, {
  redirect_uris: ['https://book.example/callback', 'https://book.example/other'],
  grant_types: ['authorization_code', 'implicit', 'refresh_token'],
  response_types: ['code', 'token', 'code token'],
})

describeOnStores('What a client loses while its owner looks at the page', (stage) => {
  /** A server whose registration of the client can change. */
  const opened = async (response_type: string) => {
    let current: ClientApplication = wide
    const clients = { find: async () => current.registration }
    const set = stage({
      clients,
      plugins: [implicit(), { name: 'host-response-types', responseTypes: [codeToken] }],
    })
    const page = await set.flow.ask({ ...authorizationRequest(wide), response_type }, 'alice')
    expect(outcomeOf(page)).toBe('question')
    const change = (bend: Partial<ClientApplication['registration']>) => (current = bent(wide, bend))
    const decide = (decision: string, owner = 'alice') => set.flow.decide(page, decision, owner)
    return { ...set, change, decide }
  }

  test.each(['code', 'code token'])(
    'is no place to send %s to: its redirection URI gets no answer until it is registered again',
    async (responseType) => {
      const { change, decide } = await opened(responseType)
      change({ redirect_uris: ['https://book.example/other'] })
      for (const decision of ['approve', 'deny']) {
        const answer = await decide(decision)
        expect(outcomeOf(answer)).toBe('page 400 invalid_request')
        expect(answer.get('Location')).toBeUndefined()
      }
      change({})
      expect((await decide('approve')).get('Location')).toMatch(/callback[?#]/)
    },
  )

  test.each([
    [
      'token',
      'the response type',
      { response_types: ['code'], grant_types: ['authorization_code'] },
      'unauthorized_client',
    ],
    ['token', 'the scope', { scope: 'photos:read' }, 'invalid_scope'],
  ])(
    'brings no %s when it was %s: the client gets an error, and another owner a page',
    async (type, _what, bend, error) => {
      const { change, decide } = await opened(type)
      change(bend)
      expect(outcomeOf(await decide('approve', 'mallory'))).toBe('page 400 invalid_request')
      const { parameters } = fragmentOf(await decide('approve'))
      expect(parameters).toMatchObject({ error })
      expect(parameters).not.toHaveProperty('access_token')
      change({})
      expect(fragmentOf(await decide('approve')).parameters).toHaveProperty('access_token')
    },
  )

  test('brings no code when it was the response type, and a denial still reaches the client', async () => {
    const { change, decide } = await opened('code')
    change({ response_types: ['token'], grant_types: ['implicit'] })
    expect((await decide('approve')).get('Location')).toContain('error=unauthorized_client&')
    expect((await decide('deny')).get('Location')).toContain('error=access_denied&')
  })
})

/** A question that alice answers; later, the answer must have arrived at the client. */
async function shown({ flow, clock }: Stage, request: Parameters<Stage['flow']['ask']>[0] = asked) {
  const page = await flow.ask(request, 'alice')
  const decide = (decision: string, owner = 'alice') => flow.decide(page, decision, owner)
  return { page, decide, later: () => clock.advance(2) }
}

describeOnStores('A decision that is sent again', (stage) => {
  test.each(['approve', 'deny'])('gets the same answer, and its owner alone: %s', async (decision) => {
    const set = stage()
    const { decide, later, page } = await shown(set)
    const first = redirectionOf(await decide(decision))
    later()
    expect(redirectionOf(await decide(decision))).toEqual(first)
    expect(errorPageOf(await decide(decision, 'mallory'))).toBe('400 invalid_request')
    expect(errorPageOf(await set.flow.decide(page, decision))).toBe('400 invalid_request')
    expect(redirectionOf(await decide(decision))).toEqual(first)
  })

  test('gets a code that is bound to what the first was bound to, and good once', async () => {
    const set = stage()
    const { decide, later } = await shown(set)
    codeOf(await decide('approve'))
    later()
    const code = codeOf(await decide('approve'))
    const guess = { code_verifier: 'x'.repeat(43) }
    expect(refusalOf(await set.flow.redeem(photoBook, code, guess))).toBe('400 invalid_grant')
    expect(codeOf(await decide('approve'))).toBe(code)
    const { accessToken, refreshToken } = tokensOf(await set.flow.redeem(photoBook, code))
    expect(refusalOf(await set.flow.redeem(photoBook, code))).toBe('400 invalid_grant')
    expect((await set.flow.photos(accessToken)).status).toBe(401)
    expect(refusalOf(await set.flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
  })

  test('counts the failures of the code on, and gets none that is burnt or has expired', async () => {
    const set = stage()
    const [burnt, expired] = [await shown(set), await shown(set)]
    const code = codeOf(await burnt.decide('approve'))
    const other = codeOf(await expired.decide('approve'))
    burnt.later()
    for (let guess = 0; guess < 5; guess++) {
      expect(codeOf(await burnt.decide('approve'))).toBe(code)
      await set.flow.redeem(photoBook, code, { code_verifier: 'x'.repeat(43) })
    }
    expect(errorPageOf(await burnt.decide('approve'))).toBe('400 invalid_request')
    set.clock.advance(57)
    expect(codeOf(await expired.decide('approve'))).toBe(other)
    set.clock.advance(1)
    expect(errorPageOf(await expired.decide('approve'))).toBe('400 invalid_request')
  })

  test('gets a page once the code is redeemed, also after a refresh, and the tokens live', async () => {
    const set = stage()
    const { decide } = await shown(set)
    const code = codeOf(await decide('approve'))
    const tokens = tokensOf(await set.flow.redeem(photoBook, code))
    expect(answeredPageOf(await decide('approve'))).toBe('https://book.example/')
    const { accessToken } = tokensOf(await set.flow.refresh(photoBook, tokens.refreshToken))
    expect(answeredPageOf(await decide('approve'))).toBe('https://book.example/')
    for (const token of [tokens.accessToken, accessToken])
      expect((await set.flow.photos(token)).status).toBe(200)
  })

  test('waits for a code that is just given, which may be on its way, and gets a page when it is redeemed by then', async () => {
    const set = stage()
    const { decide } = await shown(set)
    const code = codeOf(await decide('approve'))
    const again = decide('approve')
    const { accessToken } = tokensOf(await set.flow.redeem(photoBook, code))
    expect(answeredPageOf(await again)).toBe('https://book.example/')
    expect((await set.flow.photos(accessToken)).status).toBe(200)
  })

  test('gets no access token twice, nor a code that came with one', async () => {
    const terms = { grant_types: ['authorization_code', 'implicit'], response_types: ['code token'] }
    const album = bent(photoBook, terms)
    const set = stage({
      clients: [album.registration],
      plugins: [{ name: 'host-response-types', responseTypes: [codeToken] }],
    })
    const { decide, later } = await shown(set, { ...asked, response_type: 'code token' })
    const { code = '', access_token = '' } = fragmentOf(await decide('approve')).parameters
    later()
    expect(answeredPageOf(await decide('approve'))).toBe('https://book.example/')
    expect((await set.flow.photos(access_token)).status).toBe(200)
    tokensOf(await set.flow.redeem(album, code))
  })

  test('emits an event that says so, with the credential of the first', async () => {
    const { flow, recorded, clock } = recordingStage(stage)
    const page = await flow.ask(asked, 'alice')
    await flow.decide(page, 'approve', 'alice')
    clock.advance(2)
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    await flow.redeem(photoBook, code)
    await flow.decide(page, 'approve', 'alice')
    expect(recorded).toMatchObject([
      { event: 'approved', reason: undefined, responseType: 'code' },
      { event: 'approved', reason: 'repeated', responseType: 'code' },
      { event: 'issued', responseType: undefined },
    ])
    expect(recorded[0]?.credential).toBe(recorded[1]?.credential)
  })

  test('gets nothing of a client that lost what it was answered by', async () => {
    let current: ClientApplication = photoBook
    const set = stage({ clients: { find: async () => current.registration } })
    const { decide, later } = await shown(set)
    const code = codeOf(await decide('approve'))
    later()
    current = bent(photoBook, { redirect_uris: ['https://book.example/new'] })
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
    current = bent(photoBook, { disabled: true })
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
    current = photoBook
    expect(codeOf(await decide('approve'))).toBe(code)
    tokensOf(await set.flow.redeem(photoBook, code))
    current = bent(photoBook, { disabled: true })
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
  })

  test.each<[string, Partial<ClientApplication['registration']>, string | undefined]>([
    [
      'the page of the client',
      { client_uri: 'https://www.book.example/start' },
      'https://www.book.example/start',
    ],
    [
      'the first origin on the web, and to no loopback address',
      {
        redirect_uris: ['https://book.example/callback', 'http://127.0.0.1/cb', 'https://b.example/'],
        loopback_redirect_uris: true,
      },
      'https://book.example/',
    ],
    ['nothing on the web', { redirect_uris: ['com.example.book:/callback'] }, undefined],
  ])('gets a page that links to %s', async (_what, bend, home) => {
    const client = bent(photoBook, bend)
    const set = stage({ clients: [client.registration] })
    const { decide } = await shown(set, authorizationRequest(client))
    const location = String((await decide('approve')).get('Location'))
    await set.flow.redeem(client, String(new URL(location).searchParams.get('code')))
    expect(answeredPageOf(await decide('approve'))).toBe(home)
  })
})

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
  function opened() {
    const own = registration()
    return { own, ...application({ clients: clientsOf([own]) }) }
  }

  test('counts as it is: disabled, and with a secret or a redirection URI that is taken out or put in', async () => {
    const { own, flow, failures } = opened()
    const { refreshToken } = await flow.tokens(withOldSecret)
    const refreshed = async (client: ClientApplication) => {
      const response = await flow.refresh(client, refreshToken)
      return response.status === 200 ? 'tokens' : refusalOf(response)
    }
    own.disabled = true
    expect(await refreshed(current)).toBe('401 invalid_client')
    expect((await flow.ask(authorizationRequest(current), 'alice')).status).toBe(400)
    own.disabled = false
    own.client_secret_hashes.shift()
    expect([await refreshed(withOldSecret), await refreshed(current)]).toEqual([
      '401 invalid_client',
      'tokens',
    ])
    const next = generateClientSecret()
    own.client_secret_hashes[0] = next.client_secret_hash
    expect(await refreshed(current)).toBe('401 invalid_client')
    expect(await refreshed({ ...current, secret: next.client_secret })).toBe('tokens')
    const [before = ''] = own.redirect_uris.splice(0, 1, 'https://print.example/new')
    const ask = (redirect_uri: string) =>
      flow.ask({ ...authorizationRequest(current), redirect_uri }, 'alice')
    expect((await ask(before)).status).toBe(400)
    expect((await ask('https://print.example/new')).status).toBe(200)
    Object.assign(own, { client_type: 'web' })
    expect(await refreshed({ ...current, secret: next.client_secret })).toBe('500 server_error')
    expect(failures.at(-1)?.reason).toBe('unexpected')
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
