import express from 'express'
import request from 'supertest'
import {
  authorizationIdOf,
  createBearerGuard,
  createUnclaimedAuthorization,
  type Counters,
  invalidRequest,
  memoryStore,
  type PlugIn,
  type TokenType,
} from 'express-authorization-server'
import { photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, type Flow } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'

/** A box for authorization requests: a client leaves one, and may look at it and take it back. */
const requestBox: PlugIn = {
  name: 'request-box',
  open(server) {
    let left = 0
    const idOf = (handle: string) => authorizationIdOf(handle) ?? 'unknown'
    const unknown = () => invalidRequest('authorization_request_unknown', 'The box has no such request.')
    return {
      endpoints: [
        {
          name: 'leave',
          path: '/leave',
          async handle({ client, parameters, sender }) {
            const { proposal, facts } = await server.parseAuthorizationRequest(
              client,
              parameters,
              undefined,
              sender,
            )
            const { unclaimed, handle } = createUnclaimedAuthorization(proposal, server.context())
            await server.begin(unclaimed)
            left += 1
            return { members: { handle, facts, left, leave_url: server.urlOf('/leave') }, status: 201 }
          },
        },
        {
          name: 'look',
          path: '/look',
          async handle({ parameters }) {
            const found = await server.find(idOf(parameters.require('handle')))
            if (found === undefined) throw unknown()
            const client = await server.findClient(found.clientId)
            return { members: { state: found.state, scope: found.scope, client: client?.client_name } }
          },
        },
        {
          name: 'take_back',
          path: '/take-back',
          async handle({ client, parameters }) {
            const id = idOf(parameters.require('handle'))
            if (!(await server.counters.useOnce(`take back ${id}`, 60, client.client_id))) throw unknown()
            const scope = await server.commit(id, (current) =>
              current?.clientId === client.client_id
                ? { action: 'delete', outcome: current.scope }
                : { action: 'none', refusal: unknown() },
            )
            return { members: { scope } }
          },
        },
      ],
    }
  },
}

const asked = authorizationRequest(photoPrint)

describe('A plug-in', () => {
  test('keeps an authorization request in a record of its own, finds it, and removes it once', async () => {
    const { flow } = setStage({ plugIns: [requestBox] })
    const { status, body } = await flow.request(photoPrint, asked, '/leave')
    expect([status, body]).toEqual([
      201,
      { handle: expect.any(String), facts: [], left: 1, leave_url: 'http://localhost/leave' },
    ])
    const { handle } = body
    const looked = await flow.request(photoPrint, { handle }, '/look')
    const scope = ['photos:read', 'photos:print']
    expect(looked.body).toEqual({ state: 'unclaimed', scope, client: 'Photo Print' })
    expect((await flow.request(photoPrint, { handle }, '/take-back')).body).toEqual({ scope })
    for (const path of ['/look', '/take-back'])
      expect(outcomeOf(await flow.request(photoPrint, { handle }, path))).toBe('400 invalid_request')
  })

  test("a transition that refuses leaves another client's record", async () => {
    const { flow } = setStage({ plugIns: [requestBox] })
    const { handle } = (await flow.request(photoPrint, asked, '/leave')).body
    expect(outcomeOf(await flow.request(photoBook, { handle }, '/take-back'))).toBe('400 invalid_request')
    expect((await flow.request(photoPrint, { handle }, '/look')).status).toBe(200)
  })

  test.each([
    ['a scope that the client may not have', { scope: 'reports:write' }, 'invalid_scope'],
    ['a state that no redirect can carry', { state: 'x'.repeat(9000) }, 'invalid_request'],
    ['a challenge of another method', { code_challenge_method: 'plain' }, 'invalid_request'],
  ])('refuses %s, as the authorization endpoint does', async (_what, bend, code) => {
    const { flow } = setStage({ plugIns: [requestBox] })
    const response = await flow.request(photoPrint, { ...asked, ...bend }, '/leave')
    expect(outcomeOf(response)).toBe(`400 ${code}`)
  })

  test('refuses a request that names another client than the one it came from', async () => {
    const strangers: PlugIn = {
      name: 'strangers',
      open: (server) => ({
        endpoints: [
          {
            name: 'leave',
            path: '/leave',
            clientAuthentication: 'none',
            async handle({ parameters, sender }) {
              const client = await server.findClient('photo-book')
              if (client === undefined) throw new Error('The client is gone.')
              return {
                members: await server.parseAuthorizationRequest(client, parameters, undefined, sender),
              }
            },
          },
        ],
      }),
    }
    const { flow } = setStage({ plugIns: [strangers] })
    const ofTheOther = { ...asked, redirect_uri: authorizationRequest(photoBook).redirect_uri }
    expect(outcomeOf(await flow.submit('/leave', ofTheOther))).toBe('400 invalid_request')
    expect((await flow.submit('/leave', { ...ofTheOther, client_id: 'photo-book' })).status).toBe(200)
  })

  test('one object serves two servers, each with its own state and its own records', async () => {
    const store = memoryStore()
    const [one, other] = ['http://localhost', 'http://localhost/other'].map((issuer) =>
      setStage(
        { issuer, store, plugIns: [requestBox] },
        { mount: (app, oauth) => void app.use(new URL(issuer).pathname, oauth.router()) },
      ),
    )
    const leave = async (flow: Flow | undefined, path: string) =>
      (await flow?.request(photoPrint, asked, path))?.body
    const first = await leave(one?.flow, '/leave')
    expect(first).toMatchObject({ left: 1 })
    expect(await leave(one?.flow, '/leave')).toMatchObject({ left: 2 })
    expect(await leave(other?.flow, '/other/leave')).toMatchObject({
      left: 1,
      leave_url: 'http://localhost/other/leave',
    })
    const strange = await other?.flow.request(photoPrint, { handle: first.handle }, '/other/look')
    expect(strange && outcomeOf(strange)).toBe('400 invalid_request')
  })

  test('adds a token type to the server and to a guard of another process, with the counters of the guard', async () => {
    const store = memoryStore()
    const usedOnce = (counters: Counters): TokenType => ({
      name: 'once',
      scheme: 'Once',
      read: (accessToken) => ({
        accessToken,
        rejectReason: async () =>
          (await counters.useOnce(`use ${accessToken.slice(3, 25)}`, 60)) ? undefined : 'used_before',
      }),
    })
    const once: PlugIn = {
      name: 'once',
      open: ({ counters }) => ({ tokenTypes: [usedOnce(counters)] }),
      openInGuard: ({ counters, issuer, now }) => ({
        tokenTypes: [usedOnce(counters)],
        extensions: [{ name: 'seen', access: () => ({ seen: issuer, at: now() }) }],
      }),
    }
    const { flow } = setStage({ store, plugIns: [once], tokenType: 'once' })
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    expect(body.token_type).toBe('once')
    const guard = createBearerGuard({ issuer: 'http://localhost', store, plugIns: [once], clock: () => 7000 })
    const app = express().get('/', guard(), (req, response) => void response.json(req.oauth))
    const use = async () => request(app).get('/').set('Authorization', `Once ${body.access_token}`)
    expect((await use()).body).toMatchObject({ seen: 'http://localhost', at: 7 })
    expect((await use()).status).toBe(401)
  })
})
