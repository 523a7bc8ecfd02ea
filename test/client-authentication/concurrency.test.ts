import express from 'express'
import request from 'supertest'
import { generateClientSecret } from '../../lib/client-authentication/client-secret'
import type { ClientRegistration } from '../../lib/protocol/client'
import type { ClientStore } from '../../lib/clients/client-store'
import { hostWith } from '../support/rooms/host'
import { passportHost } from '../support/rooms/host-passport'

const crowd = Array.from({ length: 50 }, (_, index) => {
  const { client_secret, client_secret_hash } = generateClientSecret()
  const registration: ClientRegistration = {
    client_id: `client-${index}`,
    client_type: 'confidential',
    client_secret_hashes: [client_secret_hash],
    grant_types: ['client_credentials'],
    scope: 'photos.read',
  }
  return { registration, client_secret, client_id: registration.client_id }
})

/** A store of clients that answers when all have asked, and the last one first. */
class WaitingStore implements ClientStore {
  private waiting: (() => void)[] = []

  async find(clientId: string): Promise<ClientRegistration | undefined> {
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve)
      if (this.waiting.length === crowd.length) {
        const all = this.waiting.toReversed()
        this.waiting = []
        for (const [turn, release] of all.entries()) setTimeout(release, turn % 7)
      }
    })
    return crowd.find(({ client_id }) => client_id === clientId)?.registration
  }
}

const options = () => ({ clients: new WaitingStore(), storeDeadline: 10 })
const grant = { grant_type: 'client_credentials', scope: 'photos.read' }

/** Half of the crowd uses Basic, the other half the body. */
function asked(test: request.Test, index: number, member: (typeof crowd)[number]): request.Test {
  const { client_id, client_secret } = member
  return index % 2 === 0
    ? test.auth(client_id, client_secret).type('form').send(grant)
    : test.type('form').send({ ...grant, client_id, client_secret })
}

describe('fifty clients at once', () => {
  it("each get a token of their own, through the suite's Passport", async () => {
    const { app, oauth } = hostWith(options())
    const tokens = await Promise.all(
      crowd.map(async (member, index) => {
        const { body } = await asked(request(app).post('/token'), index, member)
        return String(body.access_token)
      }),
    )
    const resource = express().get('/', oauth.bearerGuard(), (req, res) => void res.send(req.oauth?.clientId))
    const owners = await Promise.all(
      tokens.map(async (token) => (await request(resource).get('/').auth(token, { type: 'bearer' })).text),
    )
    expect(owners).toEqual(crowd.map(({ client_id }) => client_id))
  })

  it('get their own client each, through a Passport of the host', async () => {
    const { app } = passportHost({ options: options() })
    const seen = await Promise.all(
      crowd.map(async (member, index) => (await asked(request(app).post('/whoami'), index, member)).body),
    )
    expect(seen).toEqual(crowd.map(({ client_id }) => ({ user: expect.objectContaining({ client_id }) })))
  })

  it('do not lend their proof to one with a wrong secret among them [token-22]', async () => {
    const { app } = hostWith(options())
    const statuses = await Promise.all(
      crowd.map(async (member, index) => {
        const client_secret = index % 3 === 0 ? 'wrong' : member.client_secret
        return (await asked(request(app).post('/token'), index, { ...member, client_secret })).status
      }),
    )
    expect(statuses).toEqual(crowd.map((_, index) => (index % 3 === 0 ? 401 : 200)))
  })

  // Passport writes `success`, `fail` and `error` onto a strategy that is handed over itself, and not by its name.
  it('get their own client each, if the host passes a strategy to passport.authenticate', async () => {
    const { oauth, passport } = passportHost({ options: options() })
    const basic = oauth.strategies.find(({ name }) => name === 'client_secret_basic')
    if (basic === undefined) throw new Error('There is no such strategy.')
    const app = express()
    app.post('/', passport.authenticate(basic, { session: false }), (req, res) => {
      res.send(Object(req.user).client_id)
    })
    const seen = await Promise.all(
      crowd.map(async ({ client_id, client_secret }) => {
        const test = request(app).post('/').auth(client_id, client_secret).type('form').send(grant)
        return test.timeout(60_000).then(
          ({ text }) => text,
          () => 'no answer',
        )
      }),
    )
    expect(seen).toEqual(crowd.map(({ client_id }) => client_id))
  })
})
