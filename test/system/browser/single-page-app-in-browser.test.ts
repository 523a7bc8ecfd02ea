import { join } from 'node:path'
import express from 'express'
import type { Page } from 'playwright-core'
import { type AuthorizationServerOptions, createAuthorizationServer } from '../../../lib/index'
import { browserStage } from '../../support/browser/stage'

const { browser, listen } = browserStage()

const page = join(__dirname, '../../support/browser/single-page-app.html')

/** A single-page app in the browser, and a server on another site. */
async function visit(options: (origin: string) => Partial<AuthorizationServerOptions>): Promise<{
  readonly wall: (call: string) => Promise<unknown>
  readonly tab: Page
  /** The methods of the requests that the handler behind the guard has seen. */
  readonly reached: readonly string[]
}> {
  const app = express().get('/', (_request, response) => response.sendFile(page))
  const origin = (await listen(app)).replace('127.0.0.1', 'localhost')
  const host = express()
  const issuer = await listen(host)
  const oauth = createAuthorizationServer({
    issuer,
    clients: [
      {
        client_id: 'photo-wall',
        client_type: 'public',
        client_name: 'Photo Wall',
        redirect_uris: [`${origin}/`],
        grant_types: ['authorization_code', 'refresh_token'],
        scope: 'photos:read',
      },
    ],
    scopes: { 'photos:read': 'See your photos' },
    resourceOwner: () => 'alice',
    ...options(origin),
  })
  const reached: string[] = []
  host.use(oauth.router())
  host.use('/photos', oauth.bearerGuard('photos:read'))
  host.all('/photos', (request, response) => {
    reached.push(request.method)
    response.json({ of: request.oauth?.subject })
  })
  const context = await browser().newContext()
  const tab = await context.newPage()
  await tab.goto(`${origin}/?issuer=${encodeURIComponent(issuer)}`)
  return { wall: (call) => tab.evaluate(`wall.${call}`), tab, reached }
}

describe('In Chromium a single-page app on another site', () => {
  test.each<[string, (origin: string) => Partial<AuthorizationServerOptions>]>([
    ['every origin', () => ({ guards: { cors: true } })],
    [
      'its origin alone',
      (origin) => ({ cors: { origins: [origin] }, guards: { cors: { origins: [origin] } } }),
    ],
  ])('enters, refreshes, calls, revokes and reads refusals, open to %s', async (_whom, options) => {
    const { wall, tab, reached } = await visit(options)
    await tab.getByRole('button', { name: 'Show my photos' }).click()
    await tab.getByRole('button', { name: 'Allow' }).click()
    await tab.waitForURL('http://localhost:*/?code=**')

    const tokens = { token_type: 'bearer', scope: 'photos:read', access_token: expect.any(String) }
    expect(await wall('redeem()')).toMatchObject({ status: 200, body: tokens })
    expect(await wall("call('/photos')")).toMatchObject({ status: 200, body: { of: 'alice' } })
    expect(await wall('refresh()')).toMatchObject({ status: 200, body: tokens })
    expect(await wall("call('/photos', 'DELETE')")).toMatchObject({ status: 200, body: { of: 'alice' } })
    expect(await wall('revoke()')).toMatchObject({ status: 200, body: {} })
    expect(await wall("call('/photos')")).toMatchObject({
      status: 401,
      challenge: expect.stringMatching(/^Bearer realm="oauth", scope="photos:read", error="invalid_token"/),
    })
    expect(await wall('refresh()')).toMatchObject({
      status: 400,
      requestId: expect.any(String),
      body: { error: 'invalid_grant' },
    })
    // Each call had a preflight, which the guard answered.
    expect(reached).toEqual(['GET', 'DELETE'])
    await tab.context().close()
  })

  test.each<[string, Partial<AuthorizationServerOptions>]>([
    ['without CORS', { cors: false }],
    ['with CORS for another origin', { cors: { origins: ['https://other.example'] } }],
  ])('reaches nothing %s', async (_how, options) => {
    const { wall, tab, reached } = await visit(() => options)
    for (const path of ['/.well-known/oauth-authorization-server', '/token', '/revoke', '/photos'])
      expect(await wall(`reach('${path}')`)).toBe('TypeError')
    expect(reached).toEqual([])
    await tab.context().close()
  })

  test('reaches neither the authorization nor the introspection endpoint, nor anything with cookies', async () => {
    const { wall, tab } = await visit(() => ({ guards: { cors: true } }))
    expect(await wall("reach('/authorize')")).toBe('TypeError')
    expect(await wall("reach('/introspect', { method: 'POST' })")).toBe('TypeError')
    const document = '/.well-known/oauth-authorization-server'
    expect(await wall(`reach('${document}')`)).toBe(200)
    expect(await wall(`reach('${document}', { credentials: 'include' })`)).toBe('TypeError')
    await tab.context().close()
  })
})
