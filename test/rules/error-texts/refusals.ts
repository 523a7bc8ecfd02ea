import type { Response } from 'supertest'
import { implicit, jwtBearer, password, tokenExchange } from '../../../lib/index'
import { bent, everyClient, nightlyReport, photoBook, photoPrint } from '../../support/flows/clients'
import type { Stage } from '../../support/flows/stores-of-run'
import { authorizationRequest, basic, formOf, type Headers } from '../../support/flows/flow'
import { setStage } from '../../support/flows/stage'
import { anyOwner, exchangeOf } from '../../support/flows/token-exchange'
import { audience, issuers } from '../../support/assertions/jwt'

const grantTypes = [
  password({ verify: () => undefined }),
  jwtBearer({ issuers, audience, resourceOwner: () => 'alice' }),
  tokenExchange({ policy: anyOwner }),
]

/** A client that may ask about tokens, and use every grant that a host switches on. */
const report = bent(nightlyReport, {
  client_id: 'report',
  may_introspect: true,
  grant_types: ['client_credentials', ...grantTypes.map(({ name }) => name)],
})
/** A client whose answers come in the fragment. */
const wall = bent(photoBook, {
  client_id: 'wall',
  grant_types: ['implicit'],
  response_types: ['token'],
})

/** A server that offers all that there is. */
export function fullStage(options: Parameters<typeof setStage>[0] = {}): Stage {
  const clients = [...everyClient, report, wall].map(({ registration }) => registration)
  return setStage({
    clients,
    responseTypes: [implicit()],
    grantTypes,
    errorUri: 'https://docs.example/errors',
    dynamicRegistration: {},
    ...options,
  })
}

export const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
export const asked = authorizationRequest(photoBook)
export const askedInFragment = {
  response_type: 'token',
  client_id: 'wall',
  redirect_uri: asked.redirect_uri,
  scope: asked.scope,
  state: asked.state,
}
export const night = { Authorization: basic('nightly-report', nightlyReport.secret) }

/** Refusals of each endpoint and of a guard, each with values that must not come back. */
export async function refusals(stage: Stage, value: string): Promise<readonly Response[]> {
  return [
    ...(await ofAuthorization(stage, value)),
    ...(await ofTokens(stage, value)),
    ...(await ofFurtherGrants(stage, value)),
    ...(await ofFurtherEndpoints(stage, value)),
    ...(await ofRegistration(stage, value)),
    ...(await ofGuard(stage, value)),
  ]
}

async function ofAuthorization({ flow }: Stage, value: string): Promise<readonly Response[]> {
  const bentForms = [asked, askedInFragment].flatMap((request) =>
    Object.keys(request).map((name) => formOf({ ...request, [name]: value })),
  )
  return [
    ...(await Promise.all(bentForms.map((form) => flow.submit('/authorize', form, 'alice')))),
    ...(await Promise.all(bentForms.map((form) => flow.submit('/authorize', form, 'alice', asProgram)))),
    await flow.ask({ ...asked, response_type: 'token' }, 'alice'),
    await flow.submit('/authorize', { authorization_request: value, decision: value }, 'alice'),
    await flow.decide(await flow.ask(asked, 'alice'), value, 'alice'),
    await flow.decide(await flow.ask(asked, 'alice'), 'deny', 'alice'),
    await flow.decide(await flow.ask(askedInFragment, 'alice'), 'deny', 'alice'),
  ]
}

/** Such a request gets JSON in place of a page. */
const asProgram = { Accept: 'application/json' }

async function ofTokens({ flow }: Stage, value: string): Promise<readonly Response[]> {
  return [
    await flow.request(nightlyReport, { grant_type: value }),
    await flow.request(nightlyReport, { ...grant, scope: value }),
    await flow.request(nightlyReport, { ...grant, client_id: `other${value}` }),
    await flow.request({ ...nightlyReport, secret: `${value}x` }, grant),
    await flow.request(photoPrint, grant),
    await flow.request(photoPrint, { grant_type: 'authorization_code', code: value }),
    await flow.request(photoPrint, { grant_type: 'refresh_token', refresh_token: value }),
    await flow.redeem(photoBook, await flow.approve(photoBook), { code_verifier: value }),
    await flow.redeem(photoBook, await flow.approve(photoBook), { redirect_uri: value || 'x' }),
    await flow.submit('/token', `${formOf(grant)}&${formOf({ scope: value })}`, undefined, night),
    await flow.submit('/token', grant, undefined, bearer(value)),
    await flow.submit(`/token?${formOf({ client_secret: value })}`, grant, undefined, night),
    await flow.submit('/token', grant, undefined, { ...night, 'Content-Type': 'application/json' }),
    await flow.open('/token'),
  ]
}

async function ofFurtherGrants({ flow }: Stage, value: string): Promise<readonly Response[]> {
  const [byPassword, byAssertion] = grantTypes.map(({ name }) => name)
  return [
    await flow.request(report, { grant_type: byPassword, username: value, password: value, ...scoped }),
    await flow.request(report, { grant_type: byAssertion, assertion: value, ...scoped }),
    await flow.request(report, exchangeOf(value)),
    await flow.request(report, exchangeOf(value, { resource: `${value}#` })),
    await flow.request(report, exchangeOf('x', { subject_token_type: value })),
  ]
}

const scoped = { scope: 'photos:read' }

async function ofFurtherEndpoints({ flow }: Stage, value: string): Promise<readonly Response[]> {
  const paths = ['/revoke', '/introspect']
  const each = paths.map(async (path) => [
    await flow.request(report, { token: '', token_type_hint: value }, path),
    await flow.request({ ...report, secret: `${value}x` }, { token: value }, path),
    await flow.request(report, { token: value, client_id: `other${value}` }, path),
    await flow.submit(path, { token: value, client_id: value }),
    await flow.submit(path, `${formOf({ token: value })}&${formOf({ token: value })}`, undefined, {
      Authorization: basic('report', nightlyReport.secret),
    }),
    await flow.open(path),
  ])
  return [...(await Promise.all(each)).flat(), await flow.introspect(photoPrint, value)]
}

async function ofRegistration({ flow }: Stage, value: string): Promise<readonly Response[]> {
  const register = (metadata: object) =>
    flow.submit('/register', JSON.stringify(metadata), undefined, { 'Content-Type': 'application/json' })
  const members = ['token_endpoint_auth_method', 'grant_types', 'scope', 'client_name', 'client_uri', 'jwks']
  return [
    await register([value]),
    await register({ redirect_uris: [value || 'x'] }),
    ...(await Promise.all(members.map((name) => register({ ...registrable, [name]: [value || 'x'] })))),
    await flow.submit('/register', value),
    await flow.open('/register'),
    await flow.open(`/register/client?${formOf({ client_id: value })}`),
    await flow.open('/register/client?client_id=x', undefined, bearer(value)),
    await flow.submit('/register/client', value),
  ]
}

const registrable = { redirect_uris: ['https://client.example/'] }

async function ofGuard({ flow }: Stage, value: string): Promise<readonly Response[]> {
  const other = await flow.request(nightlyReport, { ...grant, scope: 'reports:write' })
  return [
    await flow.open('/photos', undefined, bearer(value)),
    await flow.open('/photos', undefined, bearer(`a ${value}`)),
    await flow.open('/photos'),
    await flow.photos(String(other.body.access_token)),
  ]
}

const bearer = (value: string): Headers => ({
  Authorization: `Bearer ${encodeURIComponent(value).replace('%20', ' ')}`,
})
