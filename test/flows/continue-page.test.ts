import type { Response } from 'supertest'
import { implicit } from '../../lib/index'
import { bent, photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'

const terms = { grant_types: ['implicit'], response_types: ['token'] }
const slideshow = bent(photoBook, terms)
const on = { clients: [slideshow.registration], responseTypes: [implicit({ redirectBy: 'page' })] }
const asked = { ...authorizationRequest(slideshow), response_type: 'token', code_challenge: undefined }
const request = { ...asked, code_challenge_method: undefined }

/** The parameters in the one link of a page that goes nowhere by itself. */
function linkOf(response: Response): Readonly<Record<string, string>> {
  expect(response.status).toBe(200)
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    pragma: 'no-cache',
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'content-security-policy': expect.stringMatching(/^default-src 'none'; .*form-action 'none'/),
  })
  expect(response.headers).not.toHaveProperty('location')
  expect(response.text).not.toMatch(/<script|<meta http-equiv|<form/)
  const [[, href = ''] = [], ...more] = response.text.matchAll(/<a [^>]*href="([^"]*)"[^>]*>/g)
  expect(more).toEqual([])
  const [uri, fragment] = href.replaceAll('&amp;', '&').split('#')
  expect(uri).toBe('https://book.example/callback')
  return Object.fromEntries(new URLSearchParams(fragment))
}

describeOnStores('The page in the place of a redirect', (stage) => {
  test('[AUZ-9] links to the client with an access token that is good', async () => {
    const { flow } = stage(on)
    const page = await flow.decide(await flow.ask(request, 'alice'), 'approve', 'alice')
    expect(page.text).toContain('<h1>You allowed access</h1>')
    const parameters = linkOf(page)
    expect(parameters).toEqual({
      access_token: expect.stringMatching(/^at_/),
      token_type: 'bearer',
      expires_in: '3600',
      scope: 'photos:read photos:print',
      state: asked.state,
      iss: 'http://localhost',
    })
    expect((await flow.photos(parameters['access_token'] ?? '')).status).toBe(200)
  })

  test('[AUZ-9] links to the client with an error, too, and names the request in a header', async () => {
    const { flow, failures } = stage(on)
    const denial = await flow.decide(await flow.ask(request, 'alice'), 'deny', 'alice')
    expect(denial.text).toContain('<h1>No access was given</h1>')
    expect(linkOf(denial)).toMatchObject({ error: 'access_denied', state: asked.state })
    expect(denial.headers['x-request-id']).toBe(failures.at(-1)?.requestId)
    const refusal = linkOf(await flow.ask({ ...request, scope: 'unheard-of' }, 'alice'))
    expect(refusal).toMatchObject({ error: 'invalid_scope', state: asked.state })
  })
})
