import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'

const asked = authorizationRequest(photoBook)
const uri = 'https://book.example/callback'

test.each([
  `${uri}/`,
  `${uri}?`,
  `${uri}?a=b`,
  `${uri}#`,
  'https://BOOK.example/callback',
  'https://book.example:443/callback',
  'https://book.example/%63allback',
  'https://book.example/a/../callback',
  'https://book.example/callbac',
  'https://book.example.evil.example/callback',
  'https://book.example@evil.example/callback',
  'https://book.example\\@evil.example/callback',
  'https://book.example/callback\t',
])(
  '[RED-1, MCP-13] a redirection URI is compared exactly: %s is another one [redirect-1, redirect-2]',
  async (redirect_uri) => {
    const { flow } = setStage()
    expect(outcomeOf(await flow.ask({ ...asked, redirect_uri }, 'alice'))).toBe('page 400 invalid_request')
  },
)

test('[RED-1, MCP-13] the registered redirection URI is a match', async () => {
  const { flow } = setStage()
  expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('question')
})

test('[RED-2] with several redirection URIs, or none, the request must name one', async () => {
  const several = bent(photoBook, { redirect_uris: [uri, 'https://book.example/other'] })
  const { flow } = setStage({ clients: [several.registration] })
  for (const redirect_uri of [undefined, ''])
    expect(outcomeOf(await flow.ask({ ...asked, redirect_uri }, 'alice'))).toBe('page 400 invalid_request')
  const none = setStage().flow.ask(
    { ...asked, client_id: 'nightly-report', scope: 'photos:read', redirect_uri: undefined },
    'alice',
  )
  expect(outcomeOf(await none)).toBe('page 400 invalid_request')
})

test('[RED-3] with one redirection URI, a request that names none means that one', async () => {
  const { flow } = setStage()
  const page = await flow.ask({ ...asked, redirect_uri: undefined }, 'alice')
  expect(redirectionOf(await flow.decide(page, 'approve', 'alice')).uri).toBe(uri)
  const failure = await flow.ask({ ...asked, redirect_uri: undefined, scope: 'unheard-of' }, 'alice')
  expect(redirectionOf(failure).uri).toBe(uri)
})

const registered = 'https://print.example/callback'
const tenants = bent(photoPrint, { redirect_uris: [registered], dynamic_redirect_query: true })
const partial = () => setStage({ clients: [tenants.registration] })
const askedInPart = authorizationRequest(tenants)

test('[RED-2] with a redirection URI that is registered in part, the request must name one', async () => {
  const { flow } = partial()
  for (const redirect_uri of [undefined, ''])
    expect(outcomeOf(await flow.ask({ ...askedInPart, redirect_uri }, 'alice'))).toBe(
      'page 400 invalid_request',
    )
  expect(outcomeOf(await flow.ask(askedInPart, 'alice'))).toBe('question')
})
