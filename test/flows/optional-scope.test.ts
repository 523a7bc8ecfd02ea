import { implicit } from '../../lib/index'
import { answeredPageOf } from '../support/flows/answered-page'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { boxesOf, decideWith, withOptionalScope } from '../support/flows/owner-decision'
import { codeOf, fragmentOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

const asked = authorizationRequest(photoBook)
const ticked = { 'scope:photos:print': 'yes' }

describeOnStores('An optional scope', (stage) => {
  const open = () => stage(withOptionalScope)
  const ask = ({ flow }: Stage) => flow.ask(asked, 'alice')

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

  test.each<[string, Record<string, string | string[]>]>([
    ['names a scope that the page did not show', { 'scope:reports:write': 'yes' }],
    ['has another value in a box', { 'scope:photos:print': 'on' }],
    ['repeats a box', { 'scope:photos:print': ['yes', 'yes'] }],
    ['leaves out a required scope', { scope: 'photos:print' }],
    ['has more than the page showed', { scope: 'photos:read reports:write' }],
    ['has the scope and a box', { scope: 'photos:read', ...ticked }],
  ])('a decision that %s is refused on the page, and the request stays open', async (_what, selected) => {
    const set = open()
    const page = await ask(set)
    expect(errorPageOf(await decideWith(set.flow, page, selected))).toBe('400 invalid_request')
    const code = codeOf(await decideWith(set.flow, page, ticked))
    expect(tokensOf(await set.flow.redeem(photoBook, code)).scope).toBe('photos:read photos:print')
  })

  test('alone, unticked, is no approval', async () => {
    const set = open()
    const page = await set.flow.ask({ ...asked, scope: 'photos:print' }, 'alice')
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
    const set = stage({ ...withOptionalScope, clients: [album.registration], responseTypes: [implicit()] })
    const page = await set.flow.ask({ ...asked, response_type: 'token' }, 'alice')
    const { parameters } = fragmentOf(await decideWith(set.flow, page, {}))
    expect(parameters['scope']).toBe('photos:read')
    expect(answeredPageOf(await decideWith(set.flow, page, ticked))).toBe('https://book.example/')
  })
})

describeOnStores('A decision that is sent again with other boxes', (stage) => {
  async function decided(first: Record<string, string>) {
    const set = stage(withOptionalScope)
    const page = await set.flow.ask(asked, 'alice')
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
    const page = await set.flow.ask(asked, 'alice')
    const both = await Promise.all([{}, ticked].map((selected) => decideWith(set.flow, page, selected)))
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 303]))
    const won = both.find(({ status }) => status === 303)
    const scope = won === both[0] ? 'photos:read' : 'photos:read photos:print'
    expect(won && tokensOf(await set.flow.redeem(photoBook, codeOf(won))).scope).toBe(scope)
  })

  test('counts as the page offered, although the host has deployed other options meanwhile', async () => {
    const set = stage(withOptionalScope)
    const page = await set.flow.ask(asked, 'alice')
    const next = stage({ store: set.store, clock: set.clock.read })
    const code = codeOf(await decideWith(next.flow, page, {}))
    expect(tokensOf(await next.flow.redeem(photoBook, code)).scope).toBe('photos:read')
  })
})
