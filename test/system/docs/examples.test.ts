import { runInNewContext } from 'node:vm'
import { transformSync } from 'esbuild'
import express, { type Express, type Request } from 'express'
import session from 'express-session'
import passport from 'passport'
import { pino } from 'pino'
import request from 'supertest'
import { logEvents } from '../../../docs/examples/audit-log'
import { serverForPartner } from '../../../docs/examples/jwt-bearer'
import { photoServer } from '../../../docs/examples/jwt-guard'
import { signed } from '../../../docs/examples/signed-format'
import { storeRules } from '../../../lib/paths/testing'
import { claimsAt, hub, jwt, signer } from '../../support/assertions/jwt'
import { KeyServer } from '../../support/assertions/key-server'
import { isEventName } from '../../support/events'
import { application, canonicalOptions } from '../../support/flows/application'
import { bent, photoBook, photoPrint } from '../../support/flows/clients'
import { useEveryEndpoint, type EndpointRun } from '../../support/flows/every-endpoint'
import { Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { accessClaims, accessJwt } from '../../support/jwt-guard/access-tokens'
import { runInNode } from '../../support/stores/node-program'
import { waitUntil } from '../../support/wait-until'
import { read } from './example'

const keys = new KeyServer()
beforeAll(() => keys.start())
afterAll(() => keys.stop())
const now = () => Math.floor(Date.now() / 1000)

test('the example of assertions accepts those of its partner, from one client and for known subjects', async () => {
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  const partner = signer('https://login.partner.example', 'partner-1')
  const desk = bent(photoPrint, { client_id: 'partner-desk', grant_types: [grant_type], redirect_uris: [] })
  const other = bent(photoPrint, { grant_types: [grant_type], redirect_uris: [] })
  keys.publish(partner.jwk)
  const clients = [desk.registration, other.registration]
  const oauth = serverForPartner({ ...canonicalOptions, clients }, keys.uri, async (employee) =>
    employee === 'e-17' ? 'alice' : undefined,
  )
  const flow = new Flow(express().use(oauth.router()))
  const ask = async (bend: object, client = desk) => {
    const claims = { ...claimsAt(now(), partner), sub: 'e-17', email_verified: true, ...bend }
    return outcomeOf(
      await flow.request(client, { grant_type, assertion: jwt(partner, claims), scope: 'photos:read' }),
    )
  }
  expect(await ask({})).toBe('tokens')
  expect(await ask({ sub: 'e-18' })).toBe('400 invalid_grant')
  expect(await ask({ email_verified: 'true' })).toBe('400 invalid_grant')
  expect(await ask({}, other)).toBe('400 invalid_grant')
})

test('the example of guards for JWTs takes what its issuer signed, and says why it refuses', async () => {
  const info = jest.spyOn(console, 'info').mockImplementation()
  keys.publish(hub.jwk)
  const flow = new Flow(photoServer(hub.issuer, keys.uri))
  const claims = accessClaims(now())
  const ask = (path: string, token: string) =>
    flow.open(path, undefined, { Authorization: `Bearer ${token}` })
  // A machine under load may miss the deadline of the keys at first.
  await waitUntil('the keys are there', async () => (await flow.open('/ready')).status === 200)
  expect((await ask('/photos', accessJwt(claims))).body).toEqual({ of: 'alice', through: 'photo-book' })
  expect((await ask('/photos', accessJwt({ ...claims, aud: 'https://mail.example' }))).status).toBe(401)
  expect(info.mock.calls).toEqual([['refused', 'token_resource', expect.any(String)]])
  info.mockRestore()
})

test('the example of a format writes tokens that a guard takes, and no forged one', async () => {
  const { flow } = application({ plugins: [{ name: 'signed', accessTokenFormats: [signed] }] })
  const { body } = await flow.redeem(photoBook, await flow.approve(photoBook))
  const accessToken = String(body.access_token)
  const [header, claims] = accessToken.split('.')
  expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'alice', clientId: 'photo-book' })
  expect((await flow.photos(`${header}.${claims}.${'A'.repeat(86)}`)).status).toBe(401)
})

test('the contract on the page of stores passes', () => {
  const { status, output } = runInNode("require('./docs/examples/store-contract')")
  expect(output).toContain(`pass ${storeRules.length}\n`)
  expect(status).toBe(0)
})

describe('the page of events', () => {
  const page = read('docs/events.md')
  const wordsIn = (text = '') => Array.from(text.matchAll(/`(\w+)`/g), ([, word = '']) => word)
  /** The members of every event, and others with the events that have them. */
  const members = Array.from(page.matchAll(/^- `(\w+)`(?: of (.*?))?:/gm), ([, member = '', where]) => ({
    member,
    where: where === undefined ? undefined : wordsIn(where),
  }))
  const others: ReadonlySet<string> = new Set(['refused', 'throttled', 'failure'])
  let run: EndpointRun
  beforeAll(async () => {
    run = await useEveryEndpoint()
  })

  test('names every member that an event has, and no other', () => {
    for (const { event, ...found } of run.recorded) {
      const named = members.filter(({ where }) => where?.includes(event) !== false)
      expect({ event, members: Object.keys(found).toSorted() }).toEqual({
        event,
        members: named.map(({ member }) => member).toSorted(),
      })
    }
    expect(members.flatMap(({ where = [] }) => where).every(isEventName)).toBe(true)
  })

  test('names every reason of what went well and of a sign of theft, and no other', () => {
    const named = Array.from(page.matchAll(/^### (\w+)\n\n.*Reason: (.*)$/gm), ([, event = '', reasons]) =>
      wordsIn(reasons).map((reason) => `${event} ${reason}`),
    ).flat()
    const inStory = run.recorded.flatMap(({ event, reason }) =>
      others.has(event) || reason === undefined ? [] : [`${event} ${reason}`],
    )
    expect([...new Set(inStory)].toSorted()).toEqual(named.toSorted())
  })

  test('leaves every other reason to the page of errors', () => {
    const explained = new Set(
      [...read('docs/errors.md').matchAll(/^### ([a-z0-9_]+)$/gm)].map(([, word]) => word),
    )
    const refused = run.recorded.filter(({ event }) => others.has(event))
    expect(refused.length).toBeGreaterThan(15)
    for (const { reason } of refused) expect(explained).toContain(reason)
  })

  test('has a logger that writes a line of JSON for each event, with what broke as text', async () => {
    const lines: string[] = []
    const failing = () => Promise.reject(new Error('connection refused'))
    const { oauth, flow } = application({ clients: { find: failing } })
    logEvents(oauth, pino({ base: null }, { write: (line) => void lines.push(line) }))
    const { headers } = await flow.request(photoBook, {})
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 50,
        msg: 'failure',
        reason: 'store_unavailable',
        requestId: headers['x-request-id'],
        err: { message: 'connection refused' },
      },
    ])
  })
})

class Local extends passport.Strategy {
  override readonly name = 'local'
  override authenticate({ body }: Request): void {
    if (body.password === 'right') this.success({ id: 'u' })
    else this.fail(401)
  }
}

/** A host with the login of the guide. */
function host(): Express {
  const own = new passport.Passport()
  own.use(new Local())
  own.serializeUser((_user, done) => done(null, 'u'))
  const app = express()
  app.use(session({ secret: 's', resave: false, saveUninitialized: false }))
  app.use(own.initialize(), express.urlencoded({ extended: true }))
  const guide = read('docs/guides/add-to-your-application.md')
  const snippets = Array.from(guide.matchAll(/^```ts\n(.*?)^```$/gms), ([, text = '']) => text)
  const snippet = snippets.find((text) => text.includes("passport.authenticate('local'")) ?? ''
  const [wayBack = ''] = /^function wayBack.*?^}$/ms.exec(guide) ?? []
  const { code } = transformSync(wayBack + '\n' + snippet, { loader: 'ts', format: 'cjs' })
  runInNewContext(code, { app, passport: own, issuer: 'https://photos.example', URL, URLSearchParams })
  return app
}

const logIn = (password: string, returnTo: string | readonly string[]) =>
  request(host()).post('/login').type('form').send({ password, return_to: returnTo })

const returnTo = '/authorize?client_id=a&state=a%20b%26c'

test('the login of the guide sends the user back', async () => {
  const { status, headers } = await logIn('right', returnTo)
  expect([status, headers['location']]).toEqual([303, `https://photos.example${returnTo}`])
})

test('the login of the guide keeps the way back over a wrong password', async () => {
  const { headers } = await logIn('wrong', returnTo)
  const again = new URL(String(headers['location']), 'https://photos.example')
  expect(again.pathname).toBe('/login')
  const kept = again.searchParams.get('return_to') ?? ''
  expect((await logIn('right', kept)).headers['location']).toBe(`https://photos.example${returnTo}`)
})

test.each(['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:x', ''])(
  'the login of the guide leads to no other site by %j',
  async (elsewhere) => {
    const { headers } = await logIn('right', elsewhere)
    expect(headers['location']).toMatch(/^(?:https:\/\/photos\.example\/?|\/)$/)
    const { headers: refused } = await logIn('wrong', elsewhere)
    expect(refused['location']).not.toContain('evil')
  },
)
