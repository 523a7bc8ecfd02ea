import { implicit } from '../../lib/index'
import { formPost } from '../../lib/paths/pushed-requests'
import { bent, photoBook } from '../support/flows/clients'
import { authorizationRequest, type Fields } from '../support/flows/flow'
import { postedFormOf } from '../support/flows/posted-form'
import { fragmentOf, redirectionOf } from '../support/flows/redirection'
import { setStage } from '../support/flows/stage'

const client = bent(photoBook, {
  grant_types: ['authorization_code', 'implicit'],
  response_types: ['code', 'token'],
})
const asked = authorizationRequest(client)
const stage = (bend = {}) =>
  setStage({ clients: [client.registration], plugins: [implicit(), formPost()], ...bend })

const modes = [
  ['query', {}, redirectionOf],
  ['fragment', { response_mode: 'fragment' }, fragmentOf],
  [
    'form_post',
    { response_mode: 'form_post' },
    (page: Parameters<typeof postedFormOf>[0]) => ({ parameters: postedFormOf(page).fields }),
  ],
  ['the fragment of a token', { response_type: 'token' }, fragmentOf],
] as const

test.each(modes)(
  '[ISS-1, MCP-5] a success, a denial and an error name the issuer: %s',
  async (_mode, bend, read) => {
    const { flow } = stage()
    const page = await flow.ask({ ...asked, ...bend }, 'alice')
    const denied = await flow.ask({ ...asked, ...bend }, 'alice')
    for (const answer of [
      await flow.decide(page, 'approve', 'alice'),
      await flow.decide(denied, 'deny', 'alice'),
      await flow.ask({ ...asked, ...bend, scope: 'unheard-of' }, 'alice'),
    ])
      expect(read(answer).parameters).toMatchObject({ iss: 'http://localhost', state: asked.state })
  },
)

test('[ISS-2] the issuer is that of the metadata, exactly, and comes once [answer-1]', async () => {
  const { flow } = stage({ issuer: 'http://localhost/' })
  const { body } = await flow.open('/.well-known/oauth-authorization-server')
  // redirectionOf refuses a parameter that comes twice.
  const bend: Fields = { iss: 'https://evil.example', scope: 'unheard-of' }
  const { parameters } = redirectionOf(await flow.ask({ ...asked, ...bend }, 'alice'))
  expect([body.issuer, parameters['iss']]).toEqual(['http://localhost/', 'http://localhost/'])
})

test('[ISS-3, MCP-5] the metadata says that it is there', async () => {
  const { body } = await stage().flow.open('/.well-known/oauth-authorization-server')
  expect(body.authorization_response_iss_parameter_supported).toBe(true)
})
