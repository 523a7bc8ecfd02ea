import express from 'express'
import helmet from 'helmet'
import request from 'supertest'
import { createAuthorizationServer, deviceAuthorization } from '../../lib/index'
import { warningsOf } from '../support/rooms/warnings'

const callback = 'https://a.example/cb'

/** What each response of a host behind helmet says of its opener. */
function host(popups: boolean) {
  const app = express().use(helmet())
  const oauth = createAuthorizationServer({
    issuer: 'http://localhost',
    clients: [{ client_id: 'a', client_type: 'public', redirect_uris: [callback], scope: 'a' }],
    scopes: { a: 'See your photos' },
    resourceOwner: (incoming) => incoming.get('X-Owner'),
    authorizations: {},
    pkce: 'none',
    pages: { popups },
    plugIns: [deviceAuthorization({ secret: 'x'.repeat(32) })],
  })
  app.use(oauth.router())
  return async (path: string, owner = 'alice', form?: string) => {
    const sent = form === undefined ? request(app).get(path) : request(app).post(path).send(form)
    const { status, headers } = await sent.set('X-Owner', owner)
    return `${status} ${headers['cross-origin-opener-policy']}`
  }
}

const asked = 'response_type=code&client_id=a&scope=a'

describe('pages.popups', () => {
  it('lets popups keep their opener at the consent page and the redirects of the authorization endpoint', async () => {
    const policyOf = host(true)
    const responses = [
      await policyOf(`/authorize?${asked}`),
      await policyOf(`/authorize?${asked}`, ''),
      await policyOf(`/authorize?${asked}&prompt=none`, ''),
    ]
    expect(responses).toEqual(['200 unsafe-none', '303 unsafe-none', '303 unsafe-none'])
  })

  it.each([
    ['the page of errors', '/authorize?client_id=a&redirect_uri=https://b.example', '400'],
    ['the page of connected applications', '/authorizations', '200'],
    ['the page of devices', '/device', '200'],
    ['the metadata', '/.well-known/oauth-authorization-server', '200'],
  ])('leaves %s as the host has it', async (_page, path, status) => {
    expect(await host(true)(path)).toBe(`${status} same-origin`)
  })

  it('is off by default: the policy of the host stands', async () => {
    const policyOf = host(false)
    expect(await policyOf(`/authorize?${asked}`)).toBe('200 same-origin')
    expect(await policyOf(`/authorize?${asked}`, '')).toBe('303 same-origin')
  })
})

describe('EAS_OPENER_POLICY', () => {
  const warned = (before: string, pages: string, site: string) =>
    warningsOf(`
    const app = express()
    ${before}
    const oauth = createAuthorizationServer({
      ...options,
      clients: [{ client_id: 'a', client_type: 'public', redirect_uris: ['${callback}'], scope: 'a' }],
      resourceOwner: () => 'alice', pkce: 'none', pages: { ${pages} },
    })
    app.use(oauth.router())
    await serve(app, async (url) => {
      for (let i = 0; i < 2; i++) await (await fetch(url + '/authorize?${asked}', { headers: { 'Sec-Fetch-Site': '${site}' } })).text()
    })
  `)
      .filter(({ code }) => code === 'EAS_OPENER_POLICY')
      .map(({ message }) => message)
  const behindHelmet = "app.use(require('helmet')())"
  const ownPage = (value: string) =>
    `popups: true, consent: (_request, response) => response.set('Cross-Origin-Opener-Policy', '${value}').send('mine')`

  it.each([
    [
      'its login',
      behindHelmet,
      'popups: true',
      'same-origin',
      /: same-origin, .*send the page of the login, and the/,
    ],
    [
      'its consent page',
      '',
      ownPage('same-origin'),
      'none',
      /: same-origin, .*the page of the option pages\.consent/,
    ],
  ])('tells a host once that %s cuts popups', (_page, before, pages, site, message) => {
    expect(warned(before, pages, site)).toEqual([expect.stringMatching(message)])
  })

  it.each([
    ['has no policy', '', 'popups: true', 'same-origin'],
    ['lets popups be, at its own page too', behindHelmet, ownPage('unsafe-none'), 'none'],
    ['has no popups', behindHelmet, '', 'same-origin'],
    ['was not asked from its login', behindHelmet, 'popups: true', 'cross-site'],
  ])('is silent for a host that %s', (_host, before, pages, site) => {
    expect(warned(before, pages, site)).toEqual([])
  })
})
