import { implicit } from '../../lib/index'
import { codeToken } from '../../docs/examples/code-token'
import { bent, photoBook, type ClientApplication } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { fragmentOf } from '../support/flows/redirection'

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

  test.each(['code', 'token', 'code token'])(
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
    [
      'code token',
      'one grant type of the response type',
      { response_types: ['code'], grant_types: ['authorization_code'] },
      'unauthorized_client',
    ],
    ['token', 'the scope', { scope: 'photos:read' }, 'invalid_scope'],
  ])(
    'brings no %s when it was %s: the client is told, and a stranger is told nothing',
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

  test('brings no code when it was the response type, and a denial is told all the same', async () => {
    const { change, decide } = await opened('code')
    change({ response_types: ['token'], grant_types: ['implicit'] })
    expect((await decide('approve')).get('Location')).toContain('error=unauthorized_client&')
    expect((await decide('deny')).get('Location')).toContain('error=access_denied&')
  })
})
