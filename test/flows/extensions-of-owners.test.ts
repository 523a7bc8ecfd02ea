import { type Extension, type ExtensionDecision, OAuthError } from '../../lib/index'
import { photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { decideWith, workspaceQuestion } from '../support/flows/owner-decision'
import { codeOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const asked = authorizationRequest(photoPrint)

/** An extension that asks for a team, keeps the answer with its own data, and shows it to routes. */
const teams: Extension = {
  name: 'teams',
  atAuthorizationRequest: () => ({ since: 'request' }),
  askOwner: async ({ subject }) => workspaceQuestion(`${subject}-a`, `${subject}-b`),
  atDecision: ({ answer, authorizationData }) => ({
    authorizationData: [authorizationData ?? null, answer ? [answer.name, answer.value] : null],
  }),
  access: ({ authorizationData }) => ({ team: authorizationData ?? null }),
}

describeOnStores('An extension', (stage) => {
  test('asks the owner, gets the answer at the decision, and keeps it beside its own data', async () => {
    const { flow } = stage({ extensions: [teams] })
    const page = await flow.ask(asked, 'alice')
    const code = codeOf(await decideWith(flow, page, { choice: 'alice-b' }))
    const { accessToken } = tokensOf(await flow.redeem(photoPrint, code))
    expect((await flow.photos(accessToken)).body.team).toEqual([
      { since: 'request' },
      ['workspace', 'alice-b'],
    ])
  })

  test('that asks beside another one is a mistake, and no page', async () => {
    const { flow, failures } = stage({ extensions: [teams], choices: () => workspaceQuestion('w1') })
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect server_error')
    expect(String(failures[0]?.cause)).toContain('both ask')
  })

  test('sees every decision, with and without a page, and only its own answer', async () => {
    const decisions: ExtensionDecision[] = []
    const watching: Extension = { name: 'watching', atDecision: (decision) => void decisions.push(decision) }
    const { flow } = stage({
      extensions: [watching],
      choices: () => workspaceQuestion('w1'),
      skipConsent: (_request, { clientId }) => clientId === 'photo-print',
    })
    codeOf(await flow.ask(asked, 'alice'))
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    codeOf(await decideWith(flow, page, {}))
    expect(
      decisions.map(({ client, subject, scope, answer }) => [client.client_id, subject, scope, answer]),
    ).toEqual([
      ['photo-print', 'alice', ['photos:read', 'photos:print'], undefined],
      ['photo-book', 'alice', ['photos:read', 'photos:print'], undefined],
    ])
  })

  test('narrows what the owner has approved, and never widens it', async () => {
    const narrowing = (scope: readonly string[]): Extension => ({
      name: 'narrowing',
      atDecision: () => ({ scope }),
    })
    const tokenWith = async (scope: readonly string[]) => {
      const { flow } = stage({ extensions: [narrowing(scope)] })
      const response = await decideWith(flow, await flow.ask(asked, 'alice'), {})
      const outcome = outcomeOf(response)
      return outcome === 'redirect code'
        ? tokensOf(await flow.redeem(photoPrint, codeOf(response))).scope
        : outcome
    }
    expect(await tokenWith(['photos:read'])).toBe('photos:read')
    expect(await tokenWith([])).toBe('redirect invalid_scope')
    expect(await tokenWith(['photos:read', 'reports:write'])).toBe('redirect server_error')
  })

  test('refuses a decision, and its client gets the error', async () => {
    const refusing: Extension = {
      name: 'refusing',
      atDecision: () => {
        throw new OAuthError('access_denied', 'not_today', 'Not today.')
      },
    }
    const { flow, failures } = stage({ extensions: [refusing] })
    const page = await flow.ask(asked, 'alice')
    expect(outcomeOf(await decideWith(flow, page, {}))).toBe('redirect access_denied')
    expect(failures[0]?.reason).toBe('not_today')
  })

  test('that approves without a page does not answer for the owner', async () => {
    const approving: Extension = { name: 'approving', atResourceOwner: async () => 'approve' }
    let workspaces = ['w1']
    const { flow } = stage({ extensions: [approving], choices: () => workspaceQuestion(...workspaces) })
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect code')
    workspaces = ['w1', 'w2']
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('question')
  })

  test.each([
    ['keep', 'tokens'],
    ['end', '400 invalid_grant'],
  ] as const)('says %s at a refresh', async (verdict, outcome) => {
    const { flow } = stage({ extensions: [{ name: 'judge', atRefresh: async () => verdict }] })
    const { refreshToken } = await flow.tokens(photoPrint)
    const response = await flow.refresh(photoPrint, refreshToken)
    expect(response.status === 200 ? 'tokens' : refusalOf(response)).toBe(outcome)
  })

  test.each(['consent-offer', 'choices'])('may not have the name %s, which the server uses', (name) => {
    expect(() => stage({ extensions: [{ name }] })).toThrow(/extensions\[0\]\.name is "/)
  })
})
