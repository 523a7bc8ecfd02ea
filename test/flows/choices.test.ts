import { runInNewContext } from 'node:vm'
import {
  type AuthorizationServerOptions,
  type PriorConsentQuestion,
  implicit,
  OAuthError,
} from '../../lib/index'
import { answeredPageOf } from '../support/flows/answered-page'
import { bent, photoBook, photoPrint, type ClientApplication } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import {
  answersOf,
  decideWith,
  workspaceQuestion,
  boxesOf,
  withOptionalScope,
} from '../support/flows/owner-decision'
import { codeOf, fragmentOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'
import { options as codeTokenOptions } from '../../docs/examples/code-token'
import { recordingStage } from '../support/flows/recording-stage'
import { credentialFingerprint } from '../support/flows/every-endpoint'

const asked = authorizationRequest(photoPrint)
const introspecting = bent(photoPrint, { may_introspect: true })
const offers = (...workspaces: readonly string[]) =>
  ({
    clients: [introspecting.registration, photoBook.registration],
    choices: () => workspaceQuestion(...workspaces),
  }) satisfies Partial<AuthorizationServerOptions>

describeOnStores('The question of the option choices', (stage) => {
  test('shows its answers, and the chosen one goes to routes, introspection and refreshes', async () => {
    const { flow } = stage(offers('w1', 'w2'))
    const page = await flow.ask(asked, 'alice')
    expect(answersOf(page)).toEqual(['w1', 'w2'])
    expect(page.text).toContain('Which workspace?')
    const code = codeOf(await decideWith(flow, page, { choice: 'w2' }))
    const tokens = tokensOf(await flow.redeem(photoPrint, code))
    const next = tokensOf(await flow.refresh(photoPrint, tokens.refreshToken))
    for (const { accessToken } of [tokens, next]) {
      expect((await flow.photos(accessToken)).body.choice).toEqual({ workspace: 'w2' })
      expect((await flow.introspect(photoPrint, accessToken)).body.choice).toEqual({ workspace: 'w2' })
    }
  })

  test('gets the request of Express, and what the client asks for', async () => {
    const questions: unknown[] = []
    const { flow } = stage({
      choices: (request, question) => {
        questions.push(request.get('X-Owner'), question)
        return undefined
      },
    })
    await flow.ask(asked, 'alice')
    expect(questions).toEqual([
      'alice',
      {
        clientId: 'photo-print',
        subject: 'alice',
        scope: ['photos:read', 'photos:print'],
        facts: [],
        redirectUri: 'https://print.example/callback',
      },
    ])
  })

  test('refuses an answer where the page asked nothing', async () => {
    const { flow } = stage()
    const page = await flow.ask(asked, 'alice')
    expect(errorPageOf(await decideWith(flow, page, { choice: 'w1' }))).toBe('400 invalid_request')
    codeOf(await decideWith(flow, page, {}))
  })

  test('takes what the page offered, although the answers of the host have changed', async () => {
    let workspaces = ['w1', 'w2']
    const { flow } = stage({ choices: () => workspaceQuestion(...workspaces) })
    const page = await flow.ask(asked, 'alice')
    workspaces = ['w3', 'w4']
    expect(errorPageOf(await decideWith(flow, page, { choice: 'w3' }))).toBe('400 invalid_request')
    codeOf(await decideWith(flow, page, { choice: 'w1' }))
  })

  test('with one answer is not asked, and the answer is taken, with and without the page', async () => {
    const questions: PriorConsentQuestion[] = []
    const { flow } = stage({
      ...offers('w1'),
      skipConsent: (_request, question) => {
        questions.push(question)
        return question.clientId === 'photo-print'
      },
    })
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    expect(answersOf(page)).toEqual([])
    const byPage = await flow.redeem(photoBook, codeOf(await decideWith(flow, page, {})))
    const atOnce = await flow.redeem(photoPrint, codeOf(await flow.ask(asked, 'alice')))
    for (const response of [byPage, atOnce])
      expect((await flow.photos(tokensOf(response).accessToken)).body.choice).toEqual({ workspace: 'w1' })
    expect(questions.map(({ choice }) => choice)).toEqual([{ workspace: 'w1' }, { workspace: 'w1' }])
  })

  test('without answers says why, and the owner can only cancel', async () => {
    const { flow } = stage({
      choices: () => ({ ...workspaceQuestion(), none: { en: 'No workspace.', de: 'Keiner.' } }),
    })
    const page = await flow.ask(asked, 'alice')
    expect(page.text).toContain('No workspace.')
    expect(page.text).not.toContain('value="approve"')
    for (const selected of [{}, { choice: '' }, { choice: 'w1' }])
      expect(errorPageOf(await decideWith(flow, page, selected))).toBe('400 invalid_request')
    expect(outcomeOf(await decideWith(flow, page, {}, 'deny'))).toBe('redirect access_denied')
  })

  test.each([
    ['two answers', ['w1', 'w2'], 'question', 'redirect interaction_required'],
    ['no answers', [], 'question', 'redirect interaction_required'],
    ['one answer', ['w1'], 'redirect code', 'redirect code'],
  ])(
    'with %s decides whether skipConsent and prompt=none can do without a page',
    async (_what, workspaces, plain, silent) => {
      const { flow } = stage({ ...offers(...workspaces), skipConsent: () => true })
      expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe(plain)
      expect(outcomeOf(await flow.ask({ ...asked, prompt: 'none' }, 'alice'))).toBe(silent)
    },
  )

  test('is not asked of a person who is not logged in, nor before a demanded login', async () => {
    const choices = jest.fn(() => undefined)
    const { flow } = stage({ choices })
    await flow.ask(asked)
    await flow.ask({ ...asked, prompt: 'login' }, 'alice')
    expect(choices).not.toHaveBeenCalled()
  })

  test('may have 100 answers, and values of 128 characters', async () => {
    const values = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(128, '0'))
    const { flow } = stage(offers(...values))
    expect(answersOf(await flow.ask(asked, 'alice'))).toEqual(values)
  })

  test.each<[string, unknown]>([
    ['the name __proto__', { ...workspaceQuestion('a'), name: '__proto__' }],
    ['equal values', workspaceQuestion('a', 'a')],
    ['a long value', workspaceQuestion('a'.repeat(129))],
    ['101 answers', workspaceQuestion(...Array.from({ length: 101 }, (_, index) => `w${index}`))],
    ['data', { ...workspaceQuestion(), answers: [{ value: 'a', label: 'A', data: { a: 'b' } }] }],
  ])('with %s is a mistake of the host: server_error, and no page', async (_what, question) => {
    const { flow, failures } = stage({ choices: () => JSON.parse(JSON.stringify(question)) })
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect server_error')
    expect(String(failures[0]?.cause)).toContain('choices')
  })
})

describeOnStores('A decision that is sent again with another answer', (stage) => {
  test('gets a page, and the first answer stays', async () => {
    const { flow, clock } = stage(offers('w1', 'w2'))
    const page = await flow.ask(asked, 'alice')
    const code = codeOf(await decideWith(flow, page, { choice: 'w1' }))
    clock.advance(2)
    expect(answeredPageOf(await decideWith(flow, page, { choice: 'w2' }))).toBe('https://print.example/')
    expect(codeOf(await decideWith(flow, page, { choice: 'w1' }))).toBe(code)
    const { accessToken } = tokensOf(await flow.redeem(photoPrint, code))
    expect((await flow.photos(accessToken)).body.choice).toEqual({ workspace: 'w1' })
  })
})

const always = () => true
const mustNotBeAsked = () => {
  throw new Error('asked')
}
const onLoopback = bent(photoBook, {
  redirect_uris: ['http://127.0.0.1/callback'],
  loopback_redirect_uris: true,
})
const ofAnApp = bent(photoBook, { redirect_uris: ['com.example.book:/callback'] })

describeOnStores('What is approved already', (stage) => {
  const open = (...clients: readonly ClientApplication[]) =>
    stage({ clients: clients.map(({ registration }) => registration), skipConsent: always }).flow

  test('is answered at once, without a page, by a code that is redeemed once', async () => {
    const { flow, recorded } = recordingStage(stage, { skipConsent: always })
    const answer = await flow.ask(asked, 'alice')
    expect(answer.status).toBe(303)
    expect(redirectionOf(answer).parameters['state']).toBe(asked.state)
    expect(redirectionOf(answer).parameters['iss']).toBeDefined()
    const code = codeOf(answer)
    const { accessToken } = tokensOf(await flow.redeem(photoPrint, code))
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect((await flow.redeem(photoPrint, code)).body.error).toBe('invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect(recorded[0]).toMatchObject({
      event: 'approved',
      endpoint: 'authorization',
      clientId: 'photo-print',
      subject: 'alice',
      responseType: 'code',
      scope: ['photos:read', 'photos:print'],
      credential: credentialFingerprint(code),
    })
    expect(recorded.map(({ event }) => event)).toEqual([
      'approved',
      'issued',
      'replayed',
      'revoked',
      'refused',
    ])
  })

  test('is known by owner, client, scope and redirection URI, and nothing else', async () => {
    const questions: PriorConsentQuestion[] = []
    const { flow } = stage({
      skipConsent: async (_request, question) => {
        questions.push(question)
        return question.scope.length === 1
      },
    })
    expect((await flow.ask({ ...asked, scope: 'photos:read' }, 'bob')).status).toBe(303)
    expect((await flow.ask(asked, 'bob')).text).toContain('wants to access your account')
    expect(questions).toEqual(
      [['photos:read'], ['photos:read', 'photos:print']].map((scope) => ({
        clientId: 'photo-print',
        subject: 'bob',
        scope,
        facts: [],
        redirectUri: 'https://print.example/callback',
      })),
    )
  })

  test.each([
    ['on loopback', onLoopback],
    ['by a scheme of its own', ofAnApp],
  ])(
    'is not believed of a public client %s, which another app could pass for [consent-32]',
    async (_where, client) => {
      const page = await open(client).ask(authorizationRequest(client), 'alice')
      expect(page.text).toContain('wants to access your account')
    },
  )

  test('is believed of a confidential client wherever it is', async () => {
    const client = bent(photoPrint, { redirect_uris: ['http://localhost/callback'] })
    expect((await open(client).ask(authorizationRequest(client), 'alice')).status).toBe(303)
  })

  test('is not believed where a token would be in the answer', async () => {
    const browserApp = bent(photoBook, {
      grant_types: ['authorization_code', 'implicit'],
      response_types: ['code', 'token', 'code token'],
    })
    const { flow } = stage({
      ...codeTokenOptions,
      clients: [browserApp.registration],
      plugins: [implicit(), ...codeTokenOptions.plugins],
      skipConsent: always,
    })
    for (const response_type of ['token', 'code token']) {
      const page = await flow.ask({ ...authorizationRequest(browserApp), response_type }, 'alice')
      expect(page.text).toContain('wants to access your account')
      expect(fragmentOf(await flow.decide(page, 'approve', 'alice')).parameters['access_token']).toBeDefined()
    }
  })
})

describeOnStores('Whether something is approved already', (stage) => {
  test('is not asked without a logged-in owner, nor about a bad request or a disabled client', async () => {
    const shutOut = bent(photoPrint, { disabled: true })
    const { flow } = stage({ skipConsent: mustNotBeAsked, pkce: 'all' })
    expect((await flow.ask(asked)).headers['location']).toMatch(/^\/login\?/)
    const answer = await flow.ask({ ...asked, code_challenge: undefined }, 'alice')
    expect(redirectionOf(answer).parameters['error']).toBe('invalid_request')
    const closed = stage({ skipConsent: mustNotBeAsked, clients: [shutOut.registration] }).flow
    expect((await closed.ask(asked, 'alice')).status).toBe(400)
  })

  test.each([
    ['something truthy', () => JSON.parse('"yes"')],
    ['a record', async () => ({ approved: true })],
  ])('must return true or false: %s approves nothing and fails the request', async (_what, skipping) => {
    const { flow, recorded } = recordingStage(stage, {
      skipConsent: (...given) => Reflect.apply(skipping, undefined, given),
    })
    const answer = await flow.ask(asked, 'alice')
    expect(redirectionOf(answer).parameters['error']).toBe('server_error')
    expect(recorded).toMatchObject([{ event: 'failure', cause: expect.any(TypeError) }])
  })

  test('may be told later, by a promise of another realm, as may the owner', async () => {
    const { Promise: Foreign }: { Promise: PromiseConstructor } = runInNewContext('({ Promise })')
    const told = (approved: boolean) =>
      stage({ resourceOwner: () => Foreign.resolve('alice'), skipConsent: () => Foreign.resolve(approved) })
        .flow
    expect((await told(false).ask(asked)).text).toContain('wants to access your account')
    expect(redirectionOf(await told(true).ask(asked)).parameters['code']).toBeDefined()
  })

  test('may throw a fault or a refusal, and the client gets the error', async () => {
    const broken = stage({ skipConsent: mustNotBeAsked }).flow
    const failed = await broken.ask(asked, 'alice')
    expect(redirectionOf(failed).parameters['error']).toBe('server_error')
    const refusing = stage({
      skipConsent: () => {
        throw new OAuthError('access_denied', 'not_in_this_team', 'The owner may not use this app.')
      },
    }).flow
    const refused = await refusing.ask(asked, 'alice')
    expect(redirectionOf(refused).parameters['error']).toBe('access_denied')
  })
})

const ofBook = authorizationRequest(photoBook)
const ticked = { 'scope:photos:print': 'yes' }

describeOnStores('An optional scope', (stage) => {
  const open = () => stage(withOptionalScope)
  const ask = ({ flow }: Stage) => flow.ask(ofBook, 'alice')

  test.each([
    ['unticked is not granted', {}, 'photos:read'],
    ['ticked is granted', ticked, 'photos:read photos:print'],
    [
      'named in the whole scope is granted',
      { scope: 'photos:print photos:read' },
      'photos:read photos:print',
    ],
    ['left out of the whole scope is not granted', { scope: 'photos:read' }, 'photos:read'],
    [
      'ticked, with a tick at the required one, is granted',
      { ...ticked, 'scope:photos:read': 'yes' },
      'photos:read photos:print',
    ],
  ])('%s, by the code, its refresh and introspection', async (_how, selected, scope) => {
    const set = open()
    const page = await ask(set)
    expect(boxesOf(page)).toEqual(['scope:photos:print'])
    const code = codeOf(await decideWith(set.flow, page, selected))
    const tokens = tokensOf(await set.flow.redeem(photoBook, code))
    expect(tokens.scope).toBe(scope)
    const next = tokensOf(await set.flow.refresh(photoBook, tokens.refreshToken))
    expect(next.scope).toBe(scope)
    expect((await set.flow.photos(next.accessToken)).body).toMatchObject({ scope: scope.split(' ') })
  })

  test('alone, unticked, is no approval', async () => {
    const set = open()
    const page = await set.flow.ask({ ...ofBook, scope: 'photos:print' }, 'alice')
    expect(errorPageOf(await decideWith(set.flow, page, {}))).toBe('400 invalid_request')
    codeOf(await decideWith(set.flow, page, ticked))
  })

  test('that the client has lost meanwhile matters only with a tick', async () => {
    let current = photoBook.registration
    const set = stage({ ...withOptionalScope, clients: { find: async () => current } })
    const pages = [await ask(set), await ask(set)] as const
    current = { ...current, scope: 'photos:read' }
    const lost = await decideWith(set.flow, pages[0], ticked)
    expect(String(lost.get('Location'))).toContain('error=invalid_scope')
    codeOf(await decideWith(set.flow, pages[1], {}))
  })

  test('is granted without a page, as every scope is', async () => {
    const set = stage({ ...withOptionalScope, skipConsent: () => true })
    const code = codeOf(await set.flow.ask(authorizationRequest(photoPrint), 'alice'))
    expect(tokensOf(await set.flow.redeem(photoPrint, code)).scope).toBe('photos:read photos:print')
  })

  test('narrows the token of an implicit grant', async () => {
    const album = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })
    const set = stage({ ...withOptionalScope, clients: [album.registration], plugins: [implicit()] })
    const page = await set.flow.ask({ ...ofBook, response_type: 'token' }, 'alice')
    const { parameters } = fragmentOf(await decideWith(set.flow, page, {}))
    expect(parameters['scope']).toBe('photos:read')
    expect(answeredPageOf(await decideWith(set.flow, page, ticked))).toBe('https://book.example/')
  })
})

describeOnStores('A decision that is sent again with other boxes', (stage) => {
  async function decided(first: Record<string, string>) {
    const set = stage(withOptionalScope)
    const page = await set.flow.ask(ofBook, 'alice')
    const code = codeOf(await decideWith(set.flow, page, first))
    set.clock.advance(2)
    return { ...set, page, code }
  }

  test.each([
    ['more', {}, ticked, 'photos:read'],
    ['the same in another form', ticked, { scope: 'photos:read photos:print' }, 'photos:read photos:print'],
  ])('%s gets a page, and the first grant stays', async (_what, first, second, scope) => {
    const { flow, page, code } = await decided(first)
    expect(answeredPageOf(await decideWith(flow, page, second))).toBe('https://book.example/')
    expect(codeOf(await decideWith(flow, page, first))).toBe(code)
    expect(tokensOf(await flow.redeem(photoBook, code)).scope).toBe(scope)
  })

  test('at the same time gets one grant, and the other form a page', async () => {
    const set = stage(withOptionalScope)
    const page = await set.flow.ask(ofBook, 'alice')
    const both = await Promise.all([{}, ticked].map((selected) => decideWith(set.flow, page, selected)))
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 303]))
    const won = both.find(({ status }) => status === 303)
    const scope = won === both[0] ? 'photos:read' : 'photos:read photos:print'
    expect(won && tokensOf(await set.flow.redeem(photoBook, codeOf(won))).scope).toBe(scope)
  })

  test('counts as the page offered, although the host has deployed other options meanwhile', async () => {
    const set = stage(withOptionalScope)
    const page = await set.flow.ask(ofBook, 'alice')
    const next = stage({ store: set.store, clock: set.clock.read })
    const code = codeOf(await decideWith(next.flow, page, {}))
    expect(tokensOf(await next.flow.redeem(photoBook, code)).scope).toBe('photos:read')
  })
})
