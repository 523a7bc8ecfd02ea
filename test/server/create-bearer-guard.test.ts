import express from 'express'
import request from 'supertest'
import { createBearerGuard } from '../../lib/server/remote-guard'
import { memoryCounters } from '../../lib/stores/memory-counters'
import { noStorage } from '../../lib/stores/storage'
import { memoryStore } from '../../lib/stores/memory-store'
import { failuresOf } from '../support/events'
import { hostWith } from '../support/rooms/host'
import { type Maker, mistakesOf } from '../support/rooms/mistakes-of'
import { printer, printerSecret } from '../support/rooms/registrations'

const issuer = 'http://localhost'
const javascript: Maker = { make: createBearerGuard }

const issuesIn = (options: unknown) => mistakesOf(javascript, options)

describe('createBearerGuard', () => {
  it('guards by the store that it shares with the authorization server', async () => {
    const store = memoryStore()
    const { app } = hostWith({ store })
    const grant = { grant_type: 'client_credentials', scope: 'photos.read' }
    const { body } = await request(app)
      .post('/token')
      .auth(printer.client_id, printerSecret)
      .type('form')
      .send(grant)
    const guard = createBearerGuard({ issuer, store })
    const resource = express()
    resource.get('/read', guard('photos.read'), (req, response) => void response.json(req.oauth))
    resource.get('/print', guard('photos.print'), (_req, response) => void response.send('in'))
    const ask = (path: string) =>
      request(resource).get(path).auth(String(body.access_token), { type: 'bearer' })
    expect((await ask('/read')).body).toMatchObject({ clientId: printer.client_id, scope: ['photos.read'] })
    expect((await ask('/print')).status).toBe(403)
  })

  it('reports what it refuses, by events of its own', async () => {
    const guard = createBearerGuard({ issuer, store: memoryStore() })
    const failures = failuresOf(guard.events)
    const resource = express().get('/', guard())
    const { headers } = await request(resource).get('/').auth('x', { type: 'bearer' })
    expect(failures).toEqual([
      expect.objectContaining({
        endpoint: 'protected resource',
        reason: 'token_invalid',
        requestId: headers['x-request-id'],
      }),
    ])
  })

  it('works by the clock and the deadline of the host', async () => {
    const clock = jest.fn(() => 7000)
    const store = {
      ...memoryStore(),
      find: () => new Promise<undefined>(() => undefined),
      save: async () => true,
      remove: async () => undefined,
    }
    const guard = createBearerGuard({ issuer, store, clock, storeDeadline: 0.05 })
    const { status } = await request(express().get('/', guard()))
      .get('/')
      .auth(`at_${'A'.repeat(64)}`, { type: 'bearer' })
    expect(status).toBe(503)
    expect(clock).toHaveBeenCalled()
  })

  it.each<[string, unknown, readonly string[]]>([
    ['nothing', undefined, ['options', 'issuer', 'store']],
    ['no store', { issuer }, ['store']],
    ['no issuer', { store: memoryStore() }, ['issuer']],
    ['an issuer that is none', { store: memoryStore(), issuer: 'auth.example' }, ['issuer']],
    ['a store that is none', { issuer, store: {} }, ['store']],
    ['a deadline that is none', { issuer, store: memoryStore(), storeDeadline: 0 }, ['storeDeadline']],
    [
      'a closing without a bound',
      { issuer, store: memoryStore(), closeDeadline: Infinity },
      ['closeDeadline'],
    ],
    [
      'authorizations that are neither on nor off',
      { issuer, store: memoryStore(), authorizations: 1 },
      ['authorizations'],
    ],
    [
      'authorizations without an index',
      { issuer, store: { ...noStorage, counters: memoryCounters() }, authorizations: true },
      ['store'],
    ],
    ['a clock that is none', { issuer, store: memoryStore(), clock: 7 }, ['clock']],
    ['token types that are none', { issuer, store: memoryStore(), tokenTypes: ['mac'] }, ['tokenTypes']],
    ['counters that are none', { issuer, store: memoryStore(), counters: {} }, ['counters']],
    ['implications that are none', { issuer, store: memoryStore(), implies: [] }, ['implies']],
    ['defaults that are none', { issuer, store: memoryStore(), guards: { realms: 'a' } }, ['guards.realms']],
    ['a misspelt name', { issuer, store: memoryStore(), scopes: {} }, ['scopes']],
    [
      'all of it',
      { issuer: 7, store: 7, storeDeadline: 'x', clock: 'x', x: 1 },
      ['issuer', 'store', 'storeDeadline', 'clock', 'x'],
    ],
  ])('refuses %s at once, with each path', (_what, options, paths) => {
    expect(issuesIn(options).map(({ path }) => path)).toEqual(paths)
  })
})
