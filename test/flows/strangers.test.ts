import type { Response } from 'supertest'
import type { Store } from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { dpop } from '../../lib/paths/dpop'
import { pushedAuthorizationRequests } from '../../lib/paths/pushed-requests'
import { metadataDocuments } from '../../lib/paths/registration'
import { Chance } from '../support/chance'
import { extent } from '../support/extent'
import { photoBook, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { deviceCode, deviceSecret, television } from '../support/flows/device-stage'
import { DocumentOrigin } from '../support/flows/document-origin'
import { authorizationRequest, type Flow } from '../support/flows/flow'
import { come, from, trusting } from '../support/flows/guesses'
import { Prover } from '../support/flows/prover'
import { codeOf } from '../support/flows/redirection'
import { refresh } from '../support/flows/registered-client'
import { notesApp, notesService, registeringOn } from '../support/flows/registering'
import { storesHere } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'
import { silentListener } from '../support/https-origin'
import type { Listener } from '../support/listening'
import { but } from '../support/stores/but'

const minutes = extent(3, 60)
const strangersInAMinute = extent(150, 2000)
const atOnce = 25
const maximumClients = extent(40, 10_000)
const seed = 43

/** A thousand networks of ten providers: half of them IPv4, half /48 of IPv6 with changing addresses. */
function addressOf(chance: Chance): string {
  const [provider, network] = [chance.below(10), chance.below(100)]
  return network < 50
    ? `100.${64 + provider}.${network}.${chance.below(250)}`
    : `2001:d${provider}0:${network}:${chance.below(9)}::${chance.below(9)}`
}

const random = (chance: Chance, length: number) =>
  Array.from({ length }, () => letters.charAt(chance.below(letters.length))).join('')
const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_'

let origin: DocumentOrigin
let silent: Listener
beforeAll(async () => {
  origin = await DocumentOrigin.start()
  silent = await silentListener()
})
afterAll(async () => {
  await origin.stop()
  await silent.close()
})

const open = storesHere()

test(
  'What strangers from a thousand networks send for an hour harms no client and no owner in use, and fills the store to its bounds at most',
  async () => {
    const chance = new Chance(seed)
    const keys = new Map<string, Set<string>>()
    const watched = (store: Store) =>
      but(store, {
        write(key, ...words) {
          const kind = key.slice(0, key.indexOf(':'))
          keys.set(kind, (keys.get(kind) ?? new Set()).add(key))
          return store.write(key, ...words)
        },
      })
    const known = [photoBook, photoPrint, television]
    const clients = metadataDocuments({
      ...origin.reach,
      registered: known.map(({ registration }) => registration),
    })
    const staged = registeringOn((clock) => watched(open(clock)))(
      { maximumClients },
      {
        clients,
        plugins: [
          dpop({ baseUrl: 'http://localhost' }),
          deviceAuthorization({ secret: deviceSecret }),
          pushedAuthorizationRequests(),
        ],
      },
      trusting,
    )
    const { clock, failures } = staged
    const home = from(staged, '192.0.2.1')
    const registering = (metadata: object, address: string) =>
      staged.register(metadata, { 'X-Forwarded-For': address })
    const ask = (stranger: Flow, client_id: string) =>
      stranger.ask({ ...authorizationRequest(photoBook), client_id })

    /** What is sent besides, and waited for at the end: a silent host answers never, its fetch ends after two seconds. */
    const late: Promise<Response>[] = []
    const acts: readonly ((stranger: Flow, address: string) => Promise<Response> | undefined)[] = [
      (_, address) => registering({ ...notesApp, client_name: random(chance, 8) }, address),
      (_, address) => registering({ ...notesService, client_name: random(chance, 8) }, address),
      (stranger) =>
        ask(stranger, `https://notes.example:${origin.listener.current?.port}/${random(chance, 8)}`),
      (stranger) => {
        if (late.length < 100)
          late.push(ask(stranger, `https://${random(chance, 8)}.notes.example:${silent.port}/client.json`))
        return undefined
      },
      (stranger) => {
        const refreshing = { grant_type: 'refresh_token', refresh_token: `rt_${random(chance, 82)}` }
        return new Prover(clock.read).tokens(stranger, refreshing, photoBook)
      },
      (stranger) => stranger.redeem(photoBook, `ac_${random(chance, 65)}`),
      (stranger) =>
        stranger.request(television, { grant_type: deviceCode, device_code: `rh_${random(chance, 65)}` }),
      (stranger) => stranger.request(television, { scope: 'photos:read' }, '/device_authorization'),
      (stranger) => stranger.request(photoBook, authorizationRequest(photoBook), '/par'),
      (stranger) => come(stranger, 'photo-print', random(chance, 20)),
      (stranger) => stranger.enterCode({ user_code: random(chance, 8) }, `mallory-${chance.below(50)}`),
      (stranger) => stranger.ask(authorizationRequest(photoBook), `mallory-${chance.below(50)}`),
      (stranger) => stranger.photos(`at_${random(chance, 65)}`),
      (stranger) => stranger.introspect(photoBook, random(chance, 68)),
      (stranger) =>
        stranger.submit(
          chance.any(['/authorize', '/token', '/par', '/revoke', '/register']),
          random(chance, 200),
        ),
    ]

    const own = await staged.register(notesApp)
    const application = { registration: { ...photoBook.registration, ...own.body } }
    let tokens = await home.tokens(application, { scope: 'photos:read' })
    /** Everybody who is in use comes in each minute, and gets what is right. */
    async function comeInUse(minute: number): Promise<void> {
      const owner = `owner-${minute % 5}`
      for (const client of [photoBook, photoPrint, origin.client]) {
        const got = await home.tokens(client, {}, owner)
        expect((await home.photos(got.accessToken)).body).toMatchObject({ subject: owner })
        expect((await home.refresh(client, got.refreshToken)).status).toBe(200)
        expect((await home.revoke(client, got.refreshToken)).status).toBe(200)
      }
      const answer = await refresh({ ...staged, flow: home }, own, tokens.refreshToken)
      tokens = tokensOf(answer)
      expect((await home.photos(tokens.accessToken)).status).toBe(200)
      const pushed = await home.request(photoPrint, authorizationRequest(photoPrint), '/par')
      const { client_id } = photoPrint.registration
      const page = await home.ask({ client_id, request_uri: pushed.body.request_uri }, owner)
      expect(codeOf(await home.decide(page, 'approve', owner))).not.toBe('')
      const device = await home.request(television, { scope: 'photos:read' }, '/device_authorization')
      const form = await home.enterCode({ user_code: device.body.user_code }, owner)
      const { fields } = consentFormOf(form, '/device')
      await home.submit('/device', { ...fields, decision: 'approve' }, owner)
      clock.advance(5)
      const poll = { grant_type: deviceCode, device_code: device.body.device_code }
      expect((await home.request(television, poll)).status).toBe(200)
    }

    const statuses = new Set<number>()
    async function comeAStranger(): Promise<void> {
      const address = addressOf(chance)
      const answer = await chance.any(acts)(from(staged, address), address)
      if (answer !== undefined) statuses.add(answer.status)
    }

    const newcomers: number[] = []
    for (let minute = 0; minute < minutes; minute += 1) {
      for (let sent = 0; sent < strangersInAMinute; sent += atOnce)
        await Promise.all(Array.from({ length: atOnce }, comeAStranger))
      await comeInUse(minute)
      newcomers.push(
        (await registering({ ...notesApp, client_name: `New ${minute}` }, '198.51.100.1')).status,
      )
      clock.advance(60)
    }
    for (const { status } of await Promise.all(late)) statuses.add(status)
    // There is no room for further registrations.
    expect([...statuses].filter((status) => status >= 500)).toEqual([503])
    const written = (kind: string) => keys.get(kind)?.size ?? 0
    // One is that of the app in use.
    expect(written('client')).toBeLessThanOrEqual(maximumClients + 1)
    expect(written('document')).toBeLessThanOrEqual(4096)
    // A newcomer registers until the bound is reached, and hears that there is no room.
    expect(new Set(newcomers)).toEqual(new Set([201, 503]))
    expect(failures.filter(({ code }) => code === 'server_error')).toEqual([])
  },
  extent(60_000, 1_800_000),
)
