import { photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'

describeOnStores('The hand-off to the login of the host', (stage) => {
  const asked = authorizationRequest(photoBook)

  test('keeps nothing, so it can be repeated [store-2]', async () => {
    const { flow, store } = stage()
    const first = await flow.ask(asked)
    const second = await flow.ask(asked)
    expect(second.get('Location')).toBe(first.get('Location'))
    expect(store.calls).toEqual({ find: 0, save: 0, remove: 0 })
  })

  test.each(['GET', 'POST'])(
    'names the way back to a request by %s, with every parameter of it',
    async (method) => {
      const { flow } = stage()
      const fields = { ...asked, resource: 'https://photos.example/?a=1&b=2', state: 'a b+c%20&=#€' }
      const handOff = method === 'GET' ? await flow.ask(fields) : await flow.submit('/authorize', fields)
      const { uri, parameters } = redirectionOf(handOff)
      expect(uri).toBe('/login')
      expect(Object.keys(parameters)).toEqual(['return_to'])
      const [path, query] = String(parameters['return_to']).split('?')
      expect(path).toBe('/authorize')
      expect(Object.fromEntries(new URLSearchParams(query))).toEqual(fields)
    },
  )

  test('is cached by no one', async () => {
    const { flow } = stage()
    expect((await flow.ask(asked)).headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
  })

  test('goes to the configured path, whose own query is kept', async () => {
    const { flow } = stage({ login: '/sign-in?theme=dark' })
    const { uri, parameters } = redirectionOf(await flow.ask(asked))
    expect(uri).toBe('/sign-in')
    expect(parameters).toEqual({ theme: 'dark', return_to: `/authorize?${formOf(asked)}` })
  })

  test('can be a function of the host, which is told the way back', async () => {
    const { flow } = stage({
      login: (_request, response, returnTo) => response.status(200).json({ returnTo }),
    })
    expect((await flow.ask(asked)).body).toEqual({ returnTo: `/authorize?${formOf(asked)}` })
  })

  test('is spared a request that would be refused anyway', async () => {
    const { flow } = stage()
    const { parameters } = redirectionOf(await flow.ask({ ...asked, scope: 'unheard-of' }))
    expect(parameters).toMatchObject({ error: 'invalid_scope' })
  })

  test('leads back to a consent page, as often as it is opened; each page stands for itself', async () => {
    const { flow } = stage()
    const returnTo = String(redirectionOf(await flow.ask(asked)).parameters['return_to'])
    const [one, other] = [await flow.open(returnTo, 'alice'), await flow.open(returnTo, 'alice')]
    const codes = [await flow.decide(one, 'approve', 'alice'), await flow.decide(other, 'approve', 'alice')]
    expect(new Set(codes.map(codeOf)).size).toBe(2)
  })
})
