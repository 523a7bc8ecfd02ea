import { randomBytes } from 'node:crypto'
import { codeToken } from '../../docs/examples/code-token'
import { implicit } from '../../lib/index'
import type { Mount } from '../support/flows/application'
import { bent, type ClientApplication, photoBook, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf, fragmentOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

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
  test('is the same owner’s alone: another one, and nobody, gets nowhere, and spoils nothing [consent-4, consent-28]', async () => {
    const set = stage()
    const page = await open(set)
    for (const owner of ['mallory', undefined])
      for (const decision of ['approve', 'deny'])
        expect(errorPageOf(await set.flow.decide(page, decision, owner))).toBe('400 invalid_request')
    codeOf(await set.flow.decide(page, 'approve', 'alice'))
  })

  test.each([
    ['approve', 'deny'],
    ['deny', 'approve'],
  ])('is taken one way: after %s, %s is refused [consent-26]', async (first, second) => {
    const set = stage()
    const page = await open(set)
    redirectionOf(await set.flow.decide(page, first, 'alice'))
    expect(errorPageOf(await set.flow.decide(page, second, 'alice'))).toBe('400 invalid_request')
  })

  test('sent many times at once ends one way [consent-25]', async () => {
    const set = stage()
    const page = await open(set)
    const decisions = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? 'approve' : 'deny'))
    const responses = await Promise.all(decisions.map((decision) => set.flow.decide(page, decision, 'alice')))
    const won = responses.filter(({ status }) => status === 303)
    expect(new Set(won.map((response) => response.get('Location'))).size).toBe(1)
    expect(won).toHaveLength(4)
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(4)
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
    const id = Buffer.from(genuine.slice(3), 'base64url').subarray(0, 16)
    const handles = [
      undefined,
      `ar_${randomBytes(48).toString('base64url')}`,
      `ar_${Buffer.concat([id, randomBytes(32)]).toString('base64url')}`,
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
    const set = stage({ clients, responseTypes: [implicit(), codeToken] })
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
