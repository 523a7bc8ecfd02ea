import express from 'express'
import request from 'supertest'
import { apiKey, optionsWith } from '../../docs/examples/api-key'
import { createAuthorizationServer } from '../../lib/index'
import { application, canonicalOptions, type Mount } from '../support/flows/application'
import { nightlyReport } from '../support/flows/clients'
import { Flow, formOf } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import * as grants from './parameters/grants'

const names = ['oauth-authorization-server', 'openid-configuration']
const [document] = names.map((name) => `/.well-known/${name}`)

async function metadataOf(flow: Flow, path = String(document)): Promise<Readonly<Record<string, unknown>>> {
  const response = await flow.open(path)
  expect(response.status).toBe(200)
  return JSON.parse(response.text)
}

const rootAndRouter: Mount = (app, oauth) => {
  app.use(oauth.metadata())
  app.use('/oauth', oauth.router())
}

const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])

test('[META-1] each endpoint that is named answers at its URL, wherever the host has put it [answer-6]', async () => {
  const issuer = 'http://localhost/oauth'
  const paths = {
    authorization: '/v1/allow',
    token: '/v1/token',
    revocation: '/v1/forget',
    introspection: '/v1/about',
  }
  const { flow } = application({ issuer, paths }, { mount: rootAndRouter })
  const metadata = await metadataOf(flow, `${document}/oauth`)
  const pathOf = (name: string): string => new URL(String(metadata[`${name}_endpoint`])).pathname
  expect(outcomeOf(await flow.open(pathOf('authorization'), 'alice'))).toBe('page 400 invalid_request')
  for (const name of ['token', 'revocation', 'introspection'])
    expect(outcomeOf(await flow.submit(pathOf(name), {}))).toBe('401 invalid_client')
})

test('[META-1] a server without a resource owner names no authorization endpoint', async () => {
  const { issuer, scopes } = canonicalOptions
  const oauth = createAuthorizationServer({ issuer, scopes, clients: [nightlyReport.registration] })
  const flow = new Flow(express().use(oauth.router()))
  const metadata = await metadataOf(flow)
  expect(metadata).not.toHaveProperty('authorization_endpoint')
  expect(metadata['response_types_supported']).toEqual([])
  expect((await flow.open('/authorize')).status).toBe(404)
})

const grantTypesListed = async (flow: Flow) => listOf((await metadataOf(flow))['grant_types_supported'])

test.each(Object.entries(grants))(
  '[META-2] a grant type that a host switches on is listed and works, and is neither otherwise: %s',
  async (_name, { options, fields, send, good }) => {
    const set = setStage(options)
    const form = await fields(set)
    expect((await send(set, formOf(form))).map(outcomeOf)).toEqual([good])
    const { grant_type } = form
    expect(await grantTypesListed(set.flow)).toContain(grant_type)
    const { flow } = setStage()
    expect(await grantTypesListed(flow)).not.toContain(grant_type)
    expect(outcomeOf(await flow.request(nightlyReport, { grant_type }))).toBe('400 unsupported_grant_type')
  },
)

const methodsListed = async (flow: Flow) => (await metadataOf(flow))['token_endpoint_auth_methods_supported']

test('[META-2] a method of client authentication that a host adds is listed and works, and is neither otherwise', async () => {
  const key = 'k'.repeat(43)
  const form = { grant_type: 'client_credentials', scope: 'photos:read' }
  const outcome = async (flow: Flow) =>
    outcomeOf(await flow.submit('/token', form, undefined, { Authorization: `ApiKey robot.${key}` }))
  const { flow } = setStage(optionsWith(key))
  expect(await methodsListed(flow)).toContain(apiKey.name)
  expect(await outcome(flow)).toBe('tokens')
  const without = setStage()
  expect(await methodsListed(without.flow)).not.toContain(apiKey.name)
  expect(await outcome(without.flow)).toBe('401 invalid_client')
})

test.each(['http://localhost', 'http://localhost/', 'http://localhost/oauth/', 'http://LOCALHOST/oauth'])(
  '[META-3, META-4] the issuer %s appears letter by letter, and no member is null [answer-5]',
  async (issuer) => {
    const { flow } = application({ issuer }, { mount: (app, oauth) => app.use(oauth.metadata()) })
    const metadata = await metadataOf(flow, document + new URL(issuer).pathname.replace(/\/$/, ''))
    expect(metadata['issuer']).toBe(issuer)
    expect(Object.values(metadata)).not.toContain(null)
    expect(Object.values(metadata)).not.toContain('')
  },
)

test('[META-5] metadata is at both well-known names, before the path of the issuer and after it, and nowhere else', async () => {
  const issuer = 'http://localhost/oauth'
  const { flow } = application({ issuer }, { mount: rootAndRouter })
  for (const name of names) {
    for (const path of [`/.well-known/${name}/oauth`, `/oauth/.well-known/${name}`])
      expect((await metadataOf(flow, path))['issuer']).toBe(issuer)
    for (const path of [name, `${name}/`, `${name}/oauth/`, `${name}/other`, 'jwks.json', ''])
      expect((await flow.open(`/.well-known/${path}`)).status).toBe(404)
  }
})

test('[META-6] browsers of every origin and caches may have it, by GET and HEAD only', async () => {
  const { app } = application()
  for (const method of ['get', 'head'] as const) {
    const { status, headers } = await request(app)[method](String(document))
    expect(status).toBe(200)
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers['cache-control']).toMatch(/^public, max-age=\d+$/)
  }
  for (const method of ['post', 'put', 'delete', 'options'] as const) {
    const { status, headers } = await request(app)[method](String(document))
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD'])
  }
})
