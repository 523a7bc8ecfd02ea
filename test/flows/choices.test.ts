import type { AuthorizationServerOptions, PriorConsentQuestion } from '../../lib/index'
import { answeredPageOf } from '../support/flows/answered-page'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { answersOf, decideWith, workspaceQuestion } from '../support/flows/owner-decision'
import { codeOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

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

  test.each<[string, Record<string, string | string[]>]>([
    ['no answer', {}],
    ['an answer that was not offered', { choice: 'w3' }],
    ['two answers', { choice: ['w1', 'w2'] }],
  ])('refuses %s on the page, and the request stays open', async (_what, selected) => {
    const { flow } = stage(offers('w1', 'w2'))
    const page = await flow.ask(asked, 'alice')
    expect(errorPageOf(await decideWith(flow, page, selected))).toBe('400 invalid_request')
    codeOf(await decideWith(flow, page, { choice: 'w1' }))
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

  test.each<[string, unknown]>([
    ['the name __proto__', { ...workspaceQuestion('a'), name: '__proto__' }],
    ['equal values', workspaceQuestion('a', 'a')],
    ['a long value', workspaceQuestion('a'.repeat(129))],
    ['101 answers', workspaceQuestion(...Array.from({ length: 101 }, (_, index) => `w${index}`))],
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
