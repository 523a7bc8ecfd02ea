import bcrypt from 'bcrypt'
import express, { type Express } from 'express'
import request from 'supertest'
import { ConfigurationError } from '../../lib/primitives/options-reader'
import { type AuthorizationServer, createAuthorizationServer } from '../../lib/server/authorization-server'
import { memoryStore } from '../../lib/stores/memory-store'
import { approvedCode, authorizationRequest } from '../support/rooms/consent-form'
import { catchErrors, hostWith } from '../support/rooms/host'
import { callback, optionsWith, printer, printerSecret } from '../support/rooms/registrations'
import { statusOf } from '../support/rooms/status'

const guarded = () =>
  hostWith({}, (app, oauth) => {
    app.use(oauth.router())
    app.get('/me', oauth.bearerGuard(), (req, response) => void response.json(req.oauth))
  })

async function tokensOf(app: Express) {
  const code = await approvedCode(app)
  const { body } = await request(app)
    .post('/token')
    .auth(printer.client_id, printerSecret)
    .type('form')
    .send({ grant_type: 'authorization_code', code, redirect_uri: callback })
  return { access: String(body.access_token), refresh: String(body.refresh_token) }
}

describe('an authorization server', () => {
  it('has these parts', () => {
    const oauth = createAuthorizationServer(optionsWith())
    expect(Object.keys(oauth).toSorted()).toEqual([
      'authorizations',
      'authorize',
      'bearerGuard',
      'changeClient',
      'clientAuthentication',
      'close',
      'deleteClient',
      'disableClient',
      'dropOldClientSecrets',
      'enableClient',
      'endpoint',
      'events',
      'introspection',
      'metadata',
      'protectedResource',
      'ready',
      'registerClient',
      'revocation',
      'revoke',
      'rotateClientSecret',
      'router',
      'strategies',
      'token',
    ])
  })

  it('works without `this`: its parts can be taken out of it', async () => {
    const oauth = createAuthorizationServer(optionsWith())
    const part = <Name extends keyof AuthorizationServer>(name: Name) => oauth[name]
    const [clientAuthentication, token] = [part('clientAuthentication'), part('token')]
    const app = express().post('/token', clientAuthentication(), token())
    app.get('/me', part('bearerGuard')(), (req, response) => void response.json(req.oauth))
    const grant = { grant_type: 'client_credentials', scope: 'photos.read' }
    const { body } = await request(app)
      .post('/token')
      .auth(printer.client_id, printerSecret)
      .type('form')
      .send(grant)
    expect(await statusOf(request(app).get('/me').auth(String(body.access_token), { type: 'bearer' }))).toBe(
      200,
    )
  })

  it('has strategies that are the same each time', () => {
    const oauth = createAuthorizationServer(optionsWith())
    expect(oauth.strategies).toBe(oauth.strategies)
  })

  it('works by the clock of the host', async () => {
    let now = Date.UTC(2030, 0, 1)
    const host = hostWith({ clock: () => now, lifetimes: { accessToken: 60 } }, (app, oauth) => {
      app.use(oauth.router())
      app.get('/me', oauth.bearerGuard(), (req, response) => void response.json(req.oauth))
    })
    const { access } = await tokensOf(host.app)
    const me = () => request(host.app).get('/me').auth(access, { type: 'bearer' })
    expect((await me()).body.expiresAt).toBe(Date.UTC(2030, 0, 1) / 1000 + 60)
    now += 59_999
    expect(await statusOf(me())).toBe(200)
    now += 1
    expect(await statusOf(me())).toBe(401)
  })

  it('remembers a chosen secret for five minutes by the clock of the host', async () => {
    let now = Date.UTC(2030, 0, 1)
    const compare = jest.spyOn(bcrypt, 'compare')
    const client_secret_hashes = [await bcrypt.hash('chosen', 4)]
    const { app } = hostWith({ clock: () => now, clients: [{ ...printer, client_secret_hashes }] })
    const ask = () => request(app).post('/token').auth(printer.client_id, 'chosen').type('form').send({})
    for (const seconds of [0, 299, 1]) {
      now += seconds * 1000
      await ask()
    }
    expect(compare).toHaveBeenCalledTimes(2)
  })

  it('gives what the host asks for by default to a request without scope', async () => {
    const host = hostWith({ defaultScope: 'photos.write' })
    const grant = { grant_type: 'client_credentials' }
    const { body } = await request(host.app)
      .post('/token')
      .auth(printer.client_id, printerSecret)
      .type('form')
      .send(grant)
    expect(body.scope).toBe('photos.write')
  })

  it('waits no longer for a store than storeDeadline', async () => {
    const store = { ...quickStore(), save: () => new Promise<boolean>(() => undefined) }
    const host = hostWith({ store, storeDeadline: 0.05 })
    const { headers } = await request(host.app).get('/authorize').query(authorizationRequest)
    expect(headers['location']).toContain('error=temporarily_unavailable')
  })

  it('shows guests each request', async () => {
    const atAuthorizationRequest = jest.fn(() => 'kept')
    const atTokenRequest = jest.fn(() => undefined)
    const host = hostWith({ extensions: [{ name: 'guest', atAuthorizationRequest, atTokenRequest }] })
    await tokensOf(host.app)
    expect(atAuthorizationRequest).toHaveBeenCalledTimes(1)
    expect(atTokenRequest).toHaveBeenCalledWith(expect.objectContaining({ authorizationData: 'kept' }))
  })
})

const quickStore = () => {
  const inner = memoryStore()
  return {
    find: (id: string) => inner.find(id),
    save: (...given: Parameters<typeof inner.save>) => inner.save(...given),
    remove: (id: string) => inner.remove(id),
  }
}

describe('revoke', () => {
  it('kills every token of the authorization, and no other', async () => {
    const { app, oauth } = guarded()
    const [one, other] = [await tokensOf(app), await tokensOf(app)]
    const me = (token: string) => request(app).get('/me').auth(token, { type: 'bearer' })
    const { body } = await me(one.access)
    await oauth.revoke(String(body.authorizationId))
    expect(await statusOf(me(one.access))).toBe(401)
    expect(await statusOf(me(other.access))).toBe(200)
    const refresh = (token: string) =>
      request(app)
        .post('/token')
        .auth(printer.client_id, printerSecret)
        .type('form')
        .send({ grant_type: 'refresh_token', refresh_token: token })
    expect((await refresh(one.refresh)).body.error).toBe('invalid_grant')
    expect(await statusOf(refresh(other.refresh))).toBe(200)
  })

  it('is content when there is nothing to revoke', async () => {
    await expect(guarded().oauth.revoke('A'.repeat(22))).resolves.toBeUndefined()
  })

  it('rejects when the store does not answer: the tokens may be alive', async () => {
    const trouble = Promise.reject(new Error('down'))
    const store = { ...quickStore(), find: () => trouble, remove: () => trouble }
    await expect(hostWith({ store }).oauth.revoke('x')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
    })
  })
})

describe('a part that is mounted uncalled', () => {
  const oauth = createAuthorizationServer(optionsWith())

  it.each(['router', 'authorize', 'clientAuthentication', 'token'] as const)(
    'oauth.%s says what to do',
    async (name) => {
      const app = express().use(oauth[name])
      const errors = catchErrors(app)
      expect(await statusOf(request(app).post('/token').type('form').send({}))).toBe(500)
      expect(errors).toEqual([expect.any(ConfigurationError)])
      expect(String(errors[0])).toContain(
        `- oauth.${name} is a function that makes the middleware: call it, and mount oauth.${name}().`,
      )
    },
  )
})

describe('a server without resource owners', () => {
  const { resourceOwner: _unused, ...options } = optionsWith({ clients: [] })
  const oauth = createAuthorizationServer(options)

  it('says why it has no authorization endpoint when the host wants to mount it', () => {
    expect(() => oauth.authorize()).toThrow(
      'oauth.authorize() cannot work:\n  - resourceOwner is missing: it must be a function that returns who is logged in.',
    )
  })

  it('has everything else', () => {
    const parts = [oauth.router(), oauth.token(), oauth.clientAuthentication(), oauth.bearerGuard()]
    for (const part of parts.flat()) expect(part).toBeInstanceOf(Function)
  })
})
