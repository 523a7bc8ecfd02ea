import {
  type AuthorizationStore,
  createAuthorizationServer,
  deviceAuthorization,
  memoryStore,
} from '../../lib/index'
import { createUserCode, DeviceKey, parseUserCode, shownCode } from '../../lib/device-authorization/user-code'
import { secureRandom } from '../../lib/protocol/credential'
import { canonicalOptions } from '../support/flows/application'
import { deviceSecret, deviceStage, television } from '../support/flows/device-stage'
import { outcomeOf } from '../support/flows/outcome'

describe('a user code', () => {
  it('is eight letters without vowels, each equally often', () => {
    const counts = new Map<string, number>()
    for (let round = 0; round < 5000; round++)
      for (const letter of createUserCode(secureRandom)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    expect([...counts.keys()].toSorted().join('')).toBe('BCDFGHJKLMNPQRSTVWXZ')
    // 2000 of each on average; the standard deviation is 44.
    for (const count of counts.values()) expect(Math.abs(count - 2000)).toBeLessThan(300)
  })

  it('takes no letter from a byte that would give some letters more often than others', () => {
    let next = 240
    const bytesOnwards = (bytes: number) => {
      const drawn = Buffer.from(Array.from({ length: bytes }, (_, index) => next + index))
      next = 8
      return drawn
    }
    expect(createUserCode(bytesOnwards)).toBe('LMNPQRST')
  })

  it.each([
    ['WDJB-MJHT', 'WDJBMJHT'],
    ['wdjbmjht', 'WDJBMJHT'],
    [' wdjb mjht\n', 'WDJBMJHT'],
    ['W.D.J.B—M_J~H+T', 'WDJBMJHT'],
    ['ＷＤＪＢ－ｍｊｈｔ', 'WDJBMJHT'],
    ['WDJB\u200BMJHT', 'WDJBMJHT'],
    ['WDJB-MJH', undefined],
    ['WDJB-MJHTT', undefined],
    ['WDJA-MJHT', undefined],
    ['WDJ1-MJHT', undefined],
    ['ẂDJB-MJHT', undefined],
    ['', undefined],
  ])('is read as %j by %j', (typed, code) => {
    expect(parseUserCode(typed)).toBe(code)
  })

  it('is shown in two parts', () => {
    expect(shownCode('WDJBMJHT')).toBe('WDJB-MJHT')
  })
})

describe('the key of a server', () => {
  const key = new DeviceKey(deviceSecret, 'https://auth.example')

  it('gives another id for another code, issuer and secret, and always the same id otherwise', () => {
    const ids = [
      key.idOf('WDJBMJHT'),
      key.idOf('WDJBMJHB'),
      new DeviceKey(deviceSecret, 'https://other.example').idOf('WDJBMJHT'),
      new DeviceKey(`${deviceSecret}.`, 'https://auth.example').idOf('WDJBMJHT'),
    ]
    expect(new Set(ids).size).toBe(4)
    for (const id of ids) expect(id).toMatch(/^[\w-]{22}$/)
    expect(new DeviceKey(deviceSecret, 'https://auth.example').idOf('WDJBMJHT')).toBe(ids[0])
  })

  it('gives another consent token for another owner and another request', () => {
    const secrets = [
      ['handle', 'alice'],
      ['handle', 'bob'],
      ['other', 'alice'],
    ].map(([handle = '', subject = '']) => key.consentSecret(handle, subject)(32).toString('hex'))
    expect(new Set(secrets).size).toBe(3)
  })
})

describe('deviceAuthorization()', () => {
  it('names every mistake in its options', () => {
    const options: object = {
      secret: 'short',
      lifetime: 30,
      interval: 0,
      guesses: { owner: { attempts: 0 }, everybody: 1 },
      requests: 5,
      page: 'page.html',
      pagePath: 'device',
      endpointPath: '',
      paths: {},
    }
    expect(() => Reflect.apply(deviceAuthorization, undefined, [options])).toThrow(
      `deviceAuthorization() cannot work with these options:
  - secret must be a text of at least 32 bytes, such as one of openssl rand -base64 32.
  - lifetime must be whole seconds, 60 to 3600.
  - interval must be whole seconds, 1 to 60.
  - guesses.owner.attempts must be a whole number, 1 to 1000000.
  - guesses.everybody is not known here; the known names are network, owner.
  - requests must be an object.
  - page must be a function: it gets the request, the response and the view.
  - endpointPath must be a path such as '/device'.
  - pagePath must be a path such as '/device'.
  - paths is not known here`,
    )
  })

  it('needs its secret for a store that another process may read', () => {
    const store: AuthorizationStore = {
      find: async () => undefined,
      save: async () => true,
      remove: async () => {},
    }
    const create = (own = {}, options = {}) =>
      createAuthorizationServer({ ...canonicalOptions, plugIns: [deviceAuthorization(own)], ...options })
    expect(() => create({}, { store })).toThrow(
      'plugIns[0] cannot be opened: needs the option secret, because other processes may share the store',
    )
    expect(() => create({ secret: deviceSecret }, { store })).not.toThrow()
    expect(() => create({}, { store: memoryStore() })).not.toThrow()
  })

  it('lets all processes find a code that one of them gave, and only those of the same issuer', async () => {
    const store = memoryStore()
    const { body, clock } = await deviceStage(television, [], { store })
    const own = { store, clock: clock.read }
    const others = [{}, { issuer: 'http://127.0.0.1' }].map(async (bend) =>
      (await deviceStage(television, [], { ...own, ...bend })).enter(body.user_code, 'alice', {}),
    )
    const [same, other] = await Promise.all(others)
    expect([same?.status, other?.status]).toEqual([200, 400])
  })

  it('keeps no code in the store: neither a record nor its key names one', async () => {
    const written: string[] = []
    const store = memoryStore()
    const save: AuthorizationStore['save'] = (authorization, ...rest) => {
      written.push(JSON.stringify(authorization))
      return store.save(authorization, ...rest)
    }
    const watched = { find: store.find.bind(store), remove: store.remove.bind(store), save }
    const { body, enter, decide, poll } = await deviceStage(television, [], { store: watched })
    await decide(await enter(), 'approve')
    await poll()
    const [first = '', second = ''] = body.user_code.split('-')
    expect(written).toHaveLength(4)
    for (const secret of [body.user_code, `${first}${second}`, body.device_code])
      expect(written.join()).not.toContain(secret)
    // After the decision, the record has nothing more of the request.
    expect(written.map((record) => record.includes('127.0.0.1'))).toEqual([true, true, false, false])
  })

  it('gives another code if a live authorization has the first one', async () => {
    const store = memoryStore()
    let refusals = 0
    const taken: AuthorizationStore = {
      find: store.find.bind(store),
      remove: store.remove.bind(store),
      async save(authorization, revision, expected) {
        if (refusals-- <= 0 || expected !== undefined) return store.save(authorization, revision, expected)
        await store.save(authorization, revision, undefined)
        return false
      },
    }
    const { begin, enter } = await deviceStage(television, [], { store: taken })
    refusals = 2
    const { body, status } = await begin()
    expect(status).toBe(200)
    expect((await enter(body.user_code)).status).toBe(200)
    refusals = 100
    expect((await begin()).status).toBe(500)
  })

  it('says that a store in trouble is in trouble, and counts no guess then', async () => {
    const own = { guesses: { owner: { attempts: 2 } } }
    const { store, enter } = await deviceStage(television, [], {}, own)
    store.begin('fails', 'find')
    for (let turn = 0; turn < 4; turn++)
      expect(outcomeOf(await enter())).toBe('page 503 temporarily_unavailable')
    store.recover()
    expect((await enter()).status).toBe(200)
  })
})
