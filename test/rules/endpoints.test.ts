import { ConfigurationError } from '../../lib/index'
import { mountAll, type Mount } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import { refusalOf } from '../support/flows/tokens'

const asked = authorizationRequest(photoBook)
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

test.each([
  ['issuer', 'http://localhost/a', (issuer: string) => ({ issuer })],
  ['paths.authorization', '/a', (authorization: string) => ({ paths: { authorization } })],
  ['paths.token', '/a', (token: string) => ({ paths: { token } })],
])('[EPT-1] an endpoint with a fragment is refused at start: %s', (_option, value, withValue) => {
  expect(() => setStage(withValue(value))).not.toThrow()
  for (const fragment of ['#', '#a', '?a=b#c'])
    expect(() => setStage(withValue(value + fragment))).toThrow(ConfigurationError)
})

test('[EPT-1] endpoints that clients call with a query of their own answer, and the login keeps it', async () => {
  const { flow } = setStage({}, { paths: { token: '/token?tenant=a' } })
  expect(outcomeOf(await flow.ask(`tenant=a&${formOf(asked)}`, 'alice'))).toBe('question')
  const { parameters } = redirectionOf(await flow.ask(`tenant=a&${formOf(asked)}`))
  expect(parameters['return_to']).toBe(`/authorize?tenant=a&${formOf(asked)}&login_returns=1`)
  expect(outcomeOf(await flow.request(nightlyReport, grant))).toBe('tokens')
})

const behindProxy: Mount = (app, oauth) => {
  app.set('trust proxy', 'loopback')
  mountAll(app, oauth)
}

test('[EPT-5, MCP-11] without TLS neither endpoint serves, unless a trusted proxy ended it [edge-1]', async () => {
  const issuer = 'https://photos.example'
  const overTls = { 'X-Forwarded-Proto': 'https' }
  const bare = setStage({ issuer }).flow
  const proxied = setStage({ issuer }, { mount: behindProxy }).flow
  for (const flow of [bare, bare.behind(overTls), proxied]) {
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('page 400 invalid_request')
    expect(refusalOf(await flow.request(nightlyReport, grant))).toBe('400 invalid_request')
  }
  expect(outcomeOf(await proxied.behind(overTls).ask(asked, 'alice'))).toBe('question')
  expect(outcomeOf(await proxied.behind(overTls).request(nightlyReport, grant))).toBe('tokens')
})

test('[EPT-5] plain HTTP is for loopback hosts: with another issuer there is no server [edge-4]', async () => {
  expect(outcomeOf(await setStage({ issuer: 'http://127.0.0.1' }).flow.request(nightlyReport, grant))).toBe(
    'tokens',
  )
  expect(() => setStage({ issuer: 'http://photos.example' })).toThrow('issuer')
})
