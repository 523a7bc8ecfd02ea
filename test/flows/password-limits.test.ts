import type { Response } from 'supertest'
import {
  memoryStore,
  implicit,
  type AuthorizationServerOptions,
  type GrantType,
  type ServerLimitOptions,
  type Store,
} from '../../lib/index'
import type { PasswordLimits } from '../../lib/paths/grants'
import { application, type Hosting } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { authorizationRequest, basic, type Flow, formOf } from '../support/flows/flow'
import { from, trusting } from '../support/flows/guesses'
import { manyTimes } from '../support/flows/raw-request'
import { oldBook, oldPrint, PasswordCheck, passwordRequest, withPassword } from '../support/flows/password'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { but } from '../support/stores/but'
import { watchedCounters } from '../support/watched-counters'
import { bent, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { fragmentOf } from '../support/flows/redirection'

describe('Limits of passwords', () => {
  const limited = '429 temporarily_unavailable'
  const wrong = '400 invalid_grant'
  const off = { username: false, address: false, client: false } as const
  const three = { attempts: 3 }

  const open = (stage: SetStage, limits: PasswordLimits, hosting?: Hosting) => {
    const check = new PasswordCheck()
    return { ...stage(withPassword({ verify: check.verify, limits }), hosting), check }
  }

  const right = async (flow: Flow, client = oldPrint): Promise<Response> =>
    flow.request(client, passwordRequest)
  const guess = async (flow: Flow, username = 'alice', client = oldPrint): Promise<string> =>
    refusalOf(await flow.request(client, { ...passwordRequest, username, password: 'guess' }))
  const guessTimes = async (times: number, flow: Flow, username = 'alice', client = oldPrint) => {
    for (let time = 0; time < times; time++) expect(await guess(flow, username, client)).toBe(wrong)
  }
  const inParallel = async (times: number, ask: () => Promise<Response>) =>
    (await Promise.all(Array.from({ length: times }, ask))).map((response) =>
      response.status === 200 ? 'tokens' : refusalOf(response),
    )

  const withoutTag = (username: string) => username.replace(/\+.*$/, '')
  const throwing = async () => Promise.reject(new Error('wrong password'))

  /** A server on counters that only add, in this way. */
  const stageOn = (add: Store['add']) => {
    const check = new PasswordCheck()
    const counters = but(memoryStore(), { add })
    return {
      ...application({ ...withPassword({ verify: check.verify }), counters, storeDeadline: 0.05 }),
      check,
    }
  }

  describeOnStores('Guessing at passwords', (stage) => {
    test('is limited per user name: then even the right password is not looked at [password-2]', async () => {
      const { flow, check, failures } = open(stage, { ...off, username: three })
      await guessTimes(3, flow)
      const response = await right(flow)
      expect(refusalOf(response)).toBe(limited)
      expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/)
      expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(900)
      expect(check.asked).toHaveLength(3)
      expect(failures.at(-1)).toMatchObject({ reason: 'password_username_limited', clientId: 'photo-print' })
    })

    test('per user name is limited at all clients together, however the name is spelt, and for that name alone [password-3]', async () => {
      const { flow } = open(stage, { ...off, username: three })
      await guessTimes(1, flow, 'alice')
      await guessTimes(1, flow, ' ALICE', oldBook)
      await guessTimes(1, flow, 'álice\u0000')
      expect(await guess(flow, 'alice', oldBook)).toBe(limited)
      expect(refusalOf(await right(flow, oldBook))).toBe(limited)
      tokensOf(await flow.request(oldPrint, { ...passwordRequest, username: 'bob', password: 'builder' }))
    })

    test('per user name counts spellings as one that look alike, or that databases take for equal, and no others [password-19]', async () => {
      const { flow } = open(stage, { ...off, username: { attempts: 1 } })
      const names: readonly (readonly [string, ...string[]])[] = [
        ['alice', 'ALICE', ' al ice', 'alice\t', 'alice\u0000', '\u200Balice'],
        ['carol', 'cárol', 'ca\u0301rol', 'ｃａｒｏｌ', 'car\uFE0Fol', 'ca\u3164rol'],
        ['linus', 'lınus', 'łinus', 'lɨnus'],
        ['weiß', 'weiss', 'WEISS', 'weis'],
        ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
        ['ﬁne', 'fine'],
        ['søren', 'soren'],
        ['ŁUKASZ', 'lukasz'],
        ['Ægir', 'aegir'],
        ['Þórður', 'thordur'],
        ['ŋaŧi', 'nati'],
        ['मीना'],
        ['मना'],
        ['alice2'],
        ['__proto__'],
      ]
      for (const [first, ...others] of names) {
        await guessTimes(1, flow, first)
        for (const other of others)
          expect([first, other, await guess(flow, other)]).toEqual([first, other, limited])
      }
    })

    test('per user name counts the spellings as one that the option normalize makes one', async () => {
      const check = new PasswordCheck()
      const { flow } = stage(
        withPassword({ verify: check.verify, normalize: withoutTag, limits: { ...off, username: three } }),
      )
      for (const name of ['alice', 'alice+1', 'alice+2']) await guessTimes(1, flow, name)
      expect(await guess(flow, 'alice+3')).toBe(limited)
      await guessTimes(1, flow, 'ALICE')
    })

    test('is limited per client, and another client is not touched', async () => {
      const { flow, failures } = open(stage, { ...off, client: three })
      for (const name of ['alice', 'bob', 'carol']) await guessTimes(1, flow, name)
      expect(refusalOf(await right(flow))).toBe(limited)
      expect(failures.at(-1)).toMatchObject({ reason: 'password_client_limited' })
      tokensOf(await right(flow, oldBook))
    })

    test('is limited per address, as a trusted proxy forwards it, and another address is not affected', async () => {
      const set = open(stage, { ...off, address: three }, trusting)
      for (const name of ['alice', 'bob', 'carol']) await guessTimes(1, from(set, '192.0.2.7'), name)
      expect(refusalOf(await right(from(set, '192.0.2.7')))).toBe(limited)
      expect(set.failures.at(-1)).toMatchObject({ reason: 'password_address_limited' })
      // What stands before the address that the proxy saw was written by the guesser.
      expect(refusalOf(await right(from(set, '198.51.100.1, 192.0.2.7')))).toBe(limited)
      tokensOf(await right(from(set, '192.0.2.8')))
    })

    test('per address is limited for all addresses of one IPv6 network [password-4]', async () => {
      const set = open(stage, { ...off, address: three }, trusting)
      for (const address of ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1:a:b:c:d'])
        await guessTimes(1, from(set, address))
      expect(refusalOf(await right(from(set, '2001:db8:0:1:ffff::')))).toBe(limited)
      tokensOf(await right(from(set, '2001:db8:0:2::1')))
    })

    test('per address is not evaded by an untrusted header [password-5]', async () => {
      const set = open(stage, { ...off, address: three })
      for (const end of [1, 2, 3]) await guessTimes(1, from(set, `192.0.2.${end}`))
      expect(refusalOf(await right(from(set, '192.0.2.4')))).toBe(limited)
    })

    test('is not limited where the limits are switched off', async () => {
      const { flow } = open(stage, off)
      await guessTimes(15, flow)
      expect((await right(flow)).status).toBe(200)
    })

    test('a burst of 30 on two processes is verified no more often than the limit says [password-6]', async () => {
      const first = open(stage, { ...off, username: { attempts: 10 } })
      const second = open((options) => stage({ ...options, store: first.store }), {
        ...off,
        username: { attempts: 10 },
      })
      const flows = [first.flow, second.flow]
      const outcomes = await inParallel(30, async () => {
        flows.reverse()
        const [flow = first.flow] = flows
        return flow.request(oldPrint, { ...passwordRequest, password: 'guess' })
      })
      expect(first.check.asked.length + second.check.asked.length).toBe(10)
      expect(outcomes.filter((outcome) => outcome === wrong)).toHaveLength(10)
      expect(outcomes.filter((outcome) => outcome === limited)).toHaveLength(20)
      expect(refusalOf(await right(second.flow))).toBe(limited)
    })

    test('a burst of good logins leaves no count behind', async () => {
      const { flow, check } = open(stage, { username: three, address: three, client: three })
      const outcomes = await inParallel(30, () => right(flow))
      expect(new Set(outcomes.filter((outcome) => outcome !== 'tokens'))).toEqual(new Set([limited]))
      expect(check.asked.length).toBe(outcomes.filter((outcome) => outcome === 'tokens').length)
      for (let time = 0; time < 5; time++) tokensOf(await right(flow))
      await guessTimes(3, flow)
      expect(refusalOf(await right(flow))).toBe(limited)
    })

    test('is not forgotten when the guesser, or the owner, logs in meanwhile [password-7]', async () => {
      const { flow } = open(stage, { ...off, username: three })
      for (let time = 0; time < 3; time++) {
        tokensOf(await right(flow))
        await guessTimes(1, flow)
      }
      expect(refusalOf(await right(flow))).toBe(limited)
    })

    test('from an address whose limit is reached locks no other address out [password-8]', async () => {
      const set = open(stage, { address: three, username: { attempts: 4 }, client: false }, trusting)
      await guessTimes(3, from(set, '192.0.2.7'))
      for (let time = 0; time < 2; time++) expect(await guess(from(set, '192.0.2.7'))).toBe(limited)
      tokensOf(await right(from(set, '192.0.2.8')))
    })

    test('counts what breaks on the way, too', async () => {
      const { flow } = stage(withPassword({ verify: throwing, limits: { ...off, username: three } }))
      for (let time = 0; time < 3; time++) expect(await guess(flow)).toBe('500 server_error')
      expect(await guess(flow)).toBe(limited)
    })
  })

  describe('Guessing at passwords, as time goes by', () => {
    test('begins anew when Retry-After says so, counted from the first failure', async () => {
      const clock = new Clock()
      const check = new PasswordCheck()
      const limits = { username: { attempts: 3, seconds: 600 }, address: { attempts: 3, seconds: 3000 } }
      const { flow } = application({
        ...withPassword({ verify: check.verify, limits }),
        store: memoryStore({ clock: clock.read }),
        clock: clock.read,
      })
      const retryAfter = async () => (await right(flow)).headers['retry-after']
      await guessTimes(1, flow, 'bob')
      await guessTimes(1, flow)
      clock.advance(500)
      await guessTimes(1, flow)
      // The address is full: 2500 s are left. Its count outlives that of the name.
      expect(await retryAfter()).toBe('2500')
      clock.advance(2499)
      expect(await retryAfter()).toBe('1')
      clock.advance(1)
      tokensOf(await right(flow))
      await guessTimes(3, flow)
      clock.advance(3000)
      await guessTimes(3, flow)
      expect(await retryAfter()).toBe('3000')
      expect(check.asked).toHaveLength(10)
    })

    test('allows 10 failures of a user name in 15 minutes by default', async () => {
      const clock = new Clock()
      const check = new PasswordCheck()
      const store = memoryStore({ clock: clock.read })
      const { flow } = application({ ...withPassword({ verify: check.verify }), store, clock: clock.read })
      await guessTimes(10, flow)
      const response = await right(flow)
      expect([refusalOf(response), response.headers['retry-after']]).toEqual([limited, '900'])
      clock.advance(900)
      tokensOf(await right(flow))
    })
  })

  test.each([
    ['address', 100],
    ['client', 1000],
  ])('Guessing at passwords may fail so often for one %s by default: %i times', async (name, most) => {
    const counting = (count: number) =>
      stageOn(async (key) => ({ count: key.startsWith(`password:${name}:`) ? count : 1, secondsLeft: 900 }))
    expect(await guess(counting(most).flow)).toBe(wrong)
    expect(await guess(counting(most + 1).flow)).toBe(limited)
  })

  describe('Guessing at passwords, with a normalize that fails,', () => {
    test.each([
      ['rejects', throwing],
      ['returns no text', () => 7],
    ])('is a failure of the server when it %s, and verifies nothing', async (_, normalize) => {
      const check = new PasswordCheck()
      const { flow, failures } = application(
        // @ts-expect-error A host without types may pass such a function.
        withPassword({ verify: check.verify, normalize }),
      )
      expect(await guess(flow)).toBe('500 server_error')
      expect(failures).toMatchObject([{ reason: 'password_normalization_failed' }])
      expect(check.asked).toEqual([])
    })
  })

  describe('Guessing at passwords, with failing counters', () => {
    const troubles: [string, () => Promise<never>][] = [
      ['fail', () => Promise.reject(new Error('connection refused'))],
      ['hang', () => new Promise(() => {})],
    ]
    test.each(troubles)(
      'is temporarily unavailable when they %s, and verify is not called [password-9]',
      async (_, add) => {
        const { flow, check, failures } = stageOn(add)
        const response = await right(flow)
        expect(refusalOf(response)).toBe('400 temporarily_unavailable')
        expect(failures.map(({ reason }) => reason)).toEqual(['store_unavailable'])
        expect(check.asked).toEqual([])
      },
    )

    test.each(troubles)('a login stands when they %s after it', async (_, trouble) => {
      const { flow } = stageOn(async (_key, amount) =>
        amount < 0 ? trouble() : { count: 1, secondsLeft: 900 },
      )
      expect((await right(flow)).status).toBe(200)
    })
  })

  describe('What is counted of guesses', () => {
    test('stores no user name or address in clear [password-10]', async () => {
      const { keys, counters } = watchedCounters()
      const { flow } = application({ ...withPassword({ verify: new PasswordCheck().verify }), counters })
      await guess(flow)
      expect(keys).toHaveLength(3)
      expect(keys.join()).not.toMatch(/alice|guess|photo-print|127\.0\.0\.1/)
    })
  })
})

describe('Limits of what is issued', () => {
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  const overLimit = '429 temporarily_unavailable'

  /** An extension grant that counts its requests: a client that names an owner gets tokens for them. */
  const named = 'https://photos.example/grants/named'
  let proven = 0
  const namedOwner: GrantType = {
    name: named,
    parameters: ['owner', 'scope'],
    async handle({ parameters }) {
      proven += 1
      const grantOf = { subject: parameters.require('owner'), scope: ['photos:read'], refreshToken: true }
      return { grant: { ...grantOf, extensionData: {} } }
    },
  }
  const gateway = bent(photoFrame, { client_id: 'gateway', grant_types: [named, 'refresh_token'] })
  const slideshow = bent(photoBook, {
    client_id: 'slideshow',
    grant_types: ['implicit'],
    response_types: ['token'],
  })
  const clients = [photoBook, photoPrint, nightlyReport, gateway, slideshow].map(
    ({ registration }) => registration,
  )

  type Limits = ServerLimitOptions['issuing']
  const host = { clients, plugins: [{ name: 'host-grant-types', grantTypes: [namedOwner] }, implicit()] }
  const withLimits = (stage: SetStage, issuing?: Limits, more: Partial<AuthorizationServerOptions> = {}) =>
    stage({
      ...host,
      ...more,
      limits: { ...more.limits, ...(issuing === undefined ? {} : { issuing }) },
    })
  const three = { attempts: 3, seconds: 60 }

  const report = ({ flow }: Stage) => flow.request(nightlyReport, grant)
  const forOwner = ({ flow }: Stage, owner: string, client = gateway) =>
    flow.request(client, { grant_type: named, owner })
  const inFragment = async ({ flow }: Stage, owner = 'alice') => {
    const asked = { ...authorizationRequest(slideshow), response_type: 'token' }
    const plain = { ...asked, code_challenge: undefined, code_challenge_method: undefined }
    return fragmentOf(await flow.decide(await flow.ask(plain, owner), 'approve', owner)).parameters
  }

  describeOnStores('What is issued to one client', (stage) => {
    test('is limited, and refills: the client gets Retry-After, nothing is written, others are served [store-27]', async () => {
      const set = withLimits(stage, { client: three })
      for (let token = 0; token < 3; token++) tokensOf(await report(set))
      const refused = await report(set)
      expect(refusalOf(refused)).toBe(overLimit)
      expect(refused.headers['retry-after']).toBe('20')
      expect(set.store.calls).toMatchObject({ read: 0, write: 3 })
      expect(set.failures).toMatchObject([
        { reason: 'client_issue_limited', clientId: 'nightly-report', retryAfter: 20 },
      ])
      expect((await set.flow.tokens(photoPrint)).scope).toBe('photos:read photos:print')
      set.clock.advance(20)
      tokensOf(await report(set))
      expect(refusalOf(await report(set))).toBe(overLimit)
    })

    test('is the same count for codes and refreshes, and a code that is refused by it is still good', async () => {
      const set = withLimits(stage, { client: { attempts: 2, seconds: 60 } })
      const { refreshToken } = await set.flow.tokens(photoBook)
      const code = await set.flow.approve(photoBook)
      const second = tokensOf(await set.flow.refresh(photoBook, refreshToken)).refreshToken
      expect(refusalOf(await set.flow.redeem(photoBook, code))).toBe(overLimit)
      expect(refusalOf(await set.flow.refresh(photoBook, second))).toBe(overLimit)
      set.clock.advance(30)
      tokensOf(await set.flow.redeem(photoBook, code))
      expect(refusalOf(await set.flow.refresh(photoBook, second))).toBe(overLimit)
      set.clock.advance(30)
      tokensOf(await set.flow.refresh(photoBook, second))
    })

    test('is counted for an extension grant, which is not asked beyond the limit', async () => {
      const set = withLimits(stage, { client: three })
      const before = proven
      for (let token = 0; token < 3; token++) tokensOf(await forOwner(set, `owner ${token}`))
      expect(refusalOf(await forOwner(set, 'another'))).toBe(overLimit)
      expect(proven - before).toBe(3)
    })

    test('is counted at the authorization endpoint, which redirects beyond the limit; the page stays good', async () => {
      const set = withLimits(stage, { client: { attempts: 1, seconds: 60 } })
      expect(await inFragment(set)).toHaveProperty('access_token')
      const asked = { ...authorizationRequest(slideshow), response_type: 'token' }
      const page = await set.flow.ask(asked, 'bob')
      const { parameters } = fragmentOf(await set.flow.decide(page, 'approve', 'bob'))
      expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: asked.state })
      expect(parameters).not.toHaveProperty('access_token')
      expect(set.failures).toMatchObject([{ endpoint: 'authorization', reason: 'client_issue_limited' }])
      set.clock.advance(60)
      const again = fragmentOf(await set.flow.decide(page, 'approve', 'bob'))
      expect(again.parameters).toHaveProperty('access_token')
    })

    test('is nothing for a request that fails: no stranger uses up the count of a public client', async () => {
      const set = withLimits(stage, { client: { attempts: 2, seconds: 60 }, owner: false })
      const { refreshToken } = await set.flow.tokens(photoBook)
      for (let guess = 0; guess < 5; guess++) {
        expect(refusalOf(await set.flow.redeem(photoBook, `ac_${'x'.repeat(65)}`))).toBe('400 invalid_grant')
        expect(refusalOf(await set.flow.refresh(photoBook, `rt_${'x'.repeat(82)}`))).toBe('400 invalid_grant')
      }
      tokensOf(await set.flow.refresh(photoBook, refreshToken))
    })

    test('counts one for a refresh whose answer is given again', async () => {
      const set = withLimits(stage, { client: three })
      const { refreshToken } = await set.flow.tokens(photoBook)
      for (let again = 0; again < 6; again++) tokensOf(await set.flow.refresh(photoBook, refreshToken))
      tokensOf(await report(set))
      tokensOf(await set.flow.redeem(photoBook, await set.flow.approve(photoBook)))
      expect(refusalOf(await set.flow.refresh(photoBook, refreshToken))).toBe(overLimit)
    })

    test('shuts out no network: beyond the limit nothing counts as a failure', async () => {
      const set = withLimits(stage, { client: three }, { limits: { networks: { clients: { attempts: 2 } } } })
      for (let token = 0; token < 3; token++) tokensOf(await report(set))
      for (let more = 0; more < 5; more++)
        expect((await report(set)).body.error_description).toMatch('Too many tokens')
      expect((await set.flow.tokens(photoPrint)).scope).toBe('photos:read photos:print')
    })
  })

  describeOnStores('What is issued for one resource owner', (stage) => {
    test('is limited for each client apart, so that no client shuts an owner out of others', async () => {
      const set = withLimits(stage, { owner: three })
      let { refreshToken } = await set.flow.tokens(photoBook)
      for (let again = 0; again < 2; again++)
        refreshToken = tokensOf(await set.flow.refresh(photoBook, refreshToken)).refreshToken
      const refused = await set.flow.refresh(photoBook, refreshToken)
      expect(refusalOf(refused)).toBe(overLimit)
      expect(refused.headers['retry-after']).toBe('20')
      expect(set.failures).toMatchObject([{ reason: 'owner_issue_limited' }])
      expect((await set.flow.tokens(photoPrint)).scope).toBe('photos:read photos:print')
      expect((await set.flow.tokens(photoBook, {}, 'bob')).scope).toBe('photos:read photos:print')
      set.clock.advance(20)
      tokensOf(await set.flow.refresh(photoBook, refreshToken))
    })

    test('leaves what one client has to its other owners [store-28]', async () => {
      const set = withLimits(stage, { client: { attempts: 5, seconds: 60 }, owner: three })
      for (let more = 0; more < 4; more++) await forOwner(set, 'mallory')
      tokensOf(await forOwner(set, 'alice'))
      tokensOf(await forOwner(set, 'bob'))
      expect(refusalOf(await forOwner(set, 'carol'))).toBe(overLimit)
    })

    test('is counted apart, however long their names are', async () => {
      const set = withLimits(stage, { owner: three })
      const long = 'x'.repeat(1023)
      for (let token = 0; token < 3; token++) tokensOf(await forOwner(set, `${long}1`))
      expect(refusalOf(await forOwner(set, `${long}1`))).toBe(overLimit)
      tokensOf(await forOwner(set, `${long}2`))
    })
  })

  test('600 tokens a minute for one owner at one client are the limit by default, and more for the client', async () => {
    const set = setStage(host)
    const form = ['Content-Type', 'application/x-www-form-urlencoded']
    const headers = [...form, 'Authorization', basic('gateway', photoFrame.secret)]
    const body = formOf({ grant_type: named, owner: 'alice' })
    for (let burst = 0; burst < 6; burst++) {
      const statuses = await manyTimes(set.app, { method: 'POST', path: '/token', headers, body }, 100)
      expect(statuses).toEqual(Array.from({ length: 100 }, () => 200))
    }
    expect(refusalOf(await forOwner(set, 'alice'))).toBe(overLimit)
    expect((await forOwner(set, 'bob')).status).toBe(200)
  })
})
