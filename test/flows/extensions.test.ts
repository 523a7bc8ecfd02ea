import express from 'express'
import { createAuthorizationServer, type Extension } from 'express-authorization-server'
import request from 'supertest'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { outcomeOf } from '../support/flows/outcome'

const report = bent(nightlyReport, { may_introspect: true })
const clients = [photoBook, report].map(({ registration }) => registration)

/** A host's own: a client names the tenant that it acts in. */
const tenants: Extension = {
  name: 'tenants',
  authorizationParameters: ['tenant'],
  metadata: { tenants_supported: ['north', 'south'], issuer: 'https://elsewhere.example' },
  atAuthorizationRequest: ({ parameters }) => parameters.get('tenant'),
  introspect: (tenant) => ({ tenant, active: 'always', sub: 'mallory' }),
}

describeOnStores("An extension of the host's own", (stage) => {
  test('keeps what a request named, and introspection tells it; its own members stay what they are', async () => {
    const { flow } = stage({ clients, extensions: [tenants] })
    const { accessToken } = await flow.tokens(photoBook, { tenant: 'north' })
    const { body } = await flow.introspect(report, accessToken)
    expect(body).toMatchObject({ active: true, sub: 'alice', tenant: 'north' })
    const other = await flow.tokens(photoBook)
    expect((await flow.introspect(report, other.accessToken)).body).not.toHaveProperty('tenant')
  })

  test('adds its members to the metadata; those of the suite stay what they are', async () => {
    const { flow } = stage({ clients, extensions: [tenants] })
    const { body } = await flow.open('/.well-known/oauth-authorization-server')
    expect(body).toMatchObject({
      issuer: 'http://localhost',
      tenants_supported: ['north', 'south'],
      code_challenge_methods_supported: ['S256'],
    })
  })

  test('refuses a parameter that comes twice', async () => {
    const { flow } = stage({ clients, extensions: [tenants] })
    const { registration } = photoBook
    const query = `client_id=${registration.client_id}&response_type=code&tenant=north&tenant=south`
    expect(outcomeOf(await flow.open(`/authorize?${query}`, 'alice'))).toContain('invalid_request')
  })
})

test('a server that asks no resource owner leaves out what extensions add at the authorization endpoint', async () => {
  const oauth = createAuthorizationServer({
    issuer: 'http://localhost',
    scopes: { 'photos:read': 'See your photos' },
    clients: [],
    extensions: [tenants],
  })
  const app = express().use(oauth.router())
  const { body } = await request(app).get('/.well-known/oauth-authorization-server')
  expect(Object.keys(body).filter((name) => /tenant|challenge/.test(name))).toEqual([])
  expect(body).toHaveProperty('token_endpoint', 'http://localhost/token')
})
