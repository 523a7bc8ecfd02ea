import express from 'express'
import type { Redis } from 'ioredis'
import { randomUUID } from 'node:crypto'
import type { AuthorizationServerOptions, GrantType } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { dpop } from '../../lib/paths/dpop'
import { mac } from '../../lib/paths/mac'
import { pushedAuthorizationRequests } from '../../lib/paths/pushed-requests'
import { redisStore } from '../../lib/paths/redis'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest, Flow, redemption } from '../support/flows/flow'
import { from, trusting } from '../support/flows/guesses'
import { macHeader, type MacTokens } from '../support/flows/mac'
import { Prover } from '../support/flows/prover'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { refusalOf } from '../support/flows/tokens'
import { withRedis } from '../support/with-redis'

describe('single use limit', () => {
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  const voucher = 'https://photos.example/grants/voucher'
  const vouchers: GrantType = {
    name: voucher,
    parameters: ['voucher'],
    async handle({ parameters, counters }) {
      await counters.useOnce(`voucher:${parameters.require('voucher')}`, 600)
      return { grant: { subject: 'alice', scope: ['photos:read'], refreshToken: false, extensionData: {} } }
    },
  }
  const job = bent(nightlyReport, { token_type: 'mac', grant_types: ['client_credentials', voucher] })
  const other = bent(nightlyReport, { client_id: 'weekly-report', token_type: 'mac' })
  const signing: Partial<AuthorizationServerOptions> = {
    plugins: [mac({ hosts: ['api.example.com'] }), { name: 'host-grant-types', grantTypes: [vouchers] }],
    clients: [job.registration, other.registration],
  }
  const three = { attempts: 3, seconds: 60 }

  const signed = (clock: Stage['clock'], tokens: MacTokens) => ({
    Host: 'api.example.com',
    Authorization: macHeader(tokens, { port: '80', ts: clock.read() }),
  })
  const tokensFor = async ({ flow }: Pick<Stage, 'flow'>, client = job): Promise<MacTokens> =>
    (await flow.request(client, grant)).body

  describeOnStores('What one client may use once', (stage) => {
    test('is limited: a signed request beyond it gets Retry-After, and others pass', async () => {
      const set = stage({ ...signing, limits: { singleUses: three } })
      const [tokens, others] = [await tokensFor(set), await tokensFor(set, other)]
      const use = (own: MacTokens) => set.flow.open('/photos', undefined, signed(set.clock, own))
      for (let request = 0; request < 3; request++) expect((await use(tokens)).status).toBe(200)
      const refused = await use(tokens)
      expect(refusalOf(refused)).toBe('429 temporarily_unavailable')
      expect(refused.headers['retry-after']).toBe('20')
      expect(set.failures).toMatchObject([
        { endpoint: 'protected resource', reason: 'single_use_limited', retryAfter: 20 },
      ])
      expect((await use(others)).status).toBe(200)
      set.clock.advance(20)
      expect((await use(tokens)).status).toBe(200)
    })

    test('is limited at a guard in another application, too, and by no failed signature', async () => {
      const set = stage(signing)
      const tokens = await tokensFor(set)
      const { store, clock } = set
      const guard = createBearerGuard({
        issuer: 'http://localhost',
        store,
        clock: clock.read,
        storeDeadline: 10,
        ...(signing.plugins && { plugins: signing.plugins }),
        limits: { singleUses: three },
      })
      const app = express()
      app.get('/photos', guard(), (_request, response) => void response.json({}))
      const flow = new Flow(app)
      const forged = { ...tokens, mac_key: 'x'.repeat(43) }
      for (let request = 0; request < 5; request++)
        expect((await flow.open('/photos', undefined, signed(clock, forged))).status).toBe(401)
      for (let request = 0; request < 3; request++)
        expect((await flow.open('/photos', undefined, signed(clock, tokens))).status).toBe(200)
      expect(refusalOf(await flow.open('/photos', undefined, signed(clock, tokens)))).toBe(
        '429 temporarily_unavailable',
      )
    })

    test('is limited at the token endpoint by the same count', async () => {
      const set = stage({ ...signing, limits: { singleUses: three } })
      const use = () => set.flow.request(job, { grant_type: voucher, voucher: randomUUID() })
      for (let request = 0; request < 3; request++) expect((await use()).status).toBe(200)
      const refused = await use()
      expect(refusalOf(refused)).toBe('429 temporarily_unavailable')
      expect(set.failures).toMatchObject([{ endpoint: 'token', reason: 'single_use_limited' }])
    })

    test('is not limited where the host switches it off', async () => {
      const set = stage({ ...signing, limits: { singleUses: false } })
      const tokens = await tokensFor(set)
      for (let request = 0; request < 4; request++)
        expect((await set.flow.open('/photos', undefined, signed(set.clock, tokens))).status).toBe(200)
    })
  })

  describe('Proofs in the name of a public client, which everybody knows,', () => {
    const others = ['192.0.2.10', '192.0.2.11', '192.0.2.12']
    /** A server whose limit is two single uses. */
    const open = () => {
      const set = application(
        {
          clients: [photoBook.registration],
          limits: { singleUses: { attempts: 2, seconds: 60 } },
          plugins: [dpop({ baseUrl: 'http://localhost' }), pushedAuthorizationRequests()],
        },
        trusting,
      )
      const send = (address: string, path: string, fields: object) =>
        new Prover(Date.now).tokens(from(set, address), { ...fields }, photoBook, path)
      return { ...set, send }
    }
    const logIn = async ({ flow, send }: ReturnType<typeof open>) => {
      const code = await flow.approve(photoBook)
      return (await send('192.0.2.1', '/token', redemption(photoBook, code))).body.token_type
    }

    test('use nothing up with a grant that is no good', async () => {
      const set = open()
      for (const address of others)
        for (let time = 0; time < 3; time++) {
          const junk = { grant_type: 'refresh_token', refresh_token: 'none' }
          expect(refusalOf(await set.send(address, '/token', junk))).toBe('400 invalid_grant')
        }
      expect(await logIn(set)).toBe('DPoP')
    })

    test('count for their senders, and no other one waits', async () => {
      const set = open()
      for (const address of others) {
        const statuses: number[] = []
        for (let time = 0; time < 3; time++)
          statuses.push((await set.send(address, '/par', authorizationRequest(photoBook))).status)
        expect(statuses).toEqual([201, 201, 429])
      }
      expect(await logIn(set)).toBe('DPoP')
    })

    test('count for one owner at a guard, and no other owner waits', async () => {
      const set = open()
      const call = async (owner: string) => {
        const prover = new Prover(Date.now)
        const code = await set.flow.approve(photoBook, {}, owner)
        const { body } = await prover.tokens(from(set, owner), redemption(photoBook, code))
        const statuses: number[] = []
        for (let time = 0; time < 3; time++)
          statuses.push((await prover.call(set.flow, body.access_token)).status)
        return statuses
      }
      expect(await call('192.0.2.7')).toEqual([200, 200, 429])
      expect(await call('192.0.2.8')).toEqual([200, 200, 429])
    })
  })

  describe('On Redis', () => {
    let client: Redis
    withRedis((started) => {
      client = started.client
    })

    test('signed requests of one client leave no more keys than its limit [store-29]', async () => {
      const prefix = `uses:${randomUUID()}:`
      const set = application({
        ...signing,
        store: redisStore({ client, prefix }),
        storeDeadline: 10,
        limits: { singleUses: three },
      })
      const tokens = await tokensFor(set)
      for (let request = 0; request < 5; request++) {
        const Authorization = macHeader(tokens, { port: '80' })
        await set.flow.open('/photos', undefined, { Host: 'api.example.com', Authorization })
      }
      expect(await client.keys(`${prefix}use:*`)).toHaveLength(3)
    })
  })
})
