import { randomBytes, randomUUID } from 'node:crypto'
import { type GrantType, OAuthError } from '../../../lib/index'
import { issuerDigest } from '../../../lib/authorization/issuer'
import { decodeOwner, encodeOwner, nobody, ownerName } from '../../../lib/authorization/owners'
import { withoutLimits } from '../../support/flows/application'
import { bent, photoBook, photoPrint } from '../../support/flows/clients'
import { authorizationRequest } from '../../support/flows/flow'
import { Gate } from '../../support/flows/gate'
import { outcomeOf } from '../../support/flows/outcome'
import { codeOf } from '../../support/flows/redirection'
import { describeOnStores, type SetStage } from '../../support/flows/stores-of-run'
import { tokensOf } from '../../support/flows/tokens'
import { waitUntil } from '../../support/wait-until'

const key = `owner:${ownerName(issuerDigest('http://localhost'), 'alice')}`
const newName = () => randomBytes(16).toString('base64url')

describeOnStores('A full list of an owner', (stage) => {
  const open = (...[options]: Parameters<SetStage>) => {
    const set = stage({ authorizations: true, ...withoutLimits, ...options })
    const { store } = set
    const entries = async () => decodeOwner((await store.read(key))?.value ?? encodeOwner(nobody)).entries
    /** Entries as silent logins leave them: their records have ended. */
    const fill = async (count: number, clientIdOf: (place: number) => string) => {
      const found = await store.read(key)
      const record = found === undefined ? nobody : decodeOwner(found.value)
      const until = set.clock.read() / 1000 + 24 * 3600
      const ended = Array.from({ length: count - record.entries.length }, (_, place) => ({
        authorizationId: newName(),
        clientId: clientIdOf(place),
        openId: false,
        until,
      }))
      const text = encodeOwner({ ...record, entries: [...ended, ...record.entries] })
      expect(await store.write(key, text, { version: newName(), expected: found?.version })).toBe(true)
    }
    const approved = async () =>
      tokensOf(await set.flow.redeem(photoPrint, await set.flow.approve(photoPrint)))
    const isAlive = async (accessToken: string) => (await set.flow.photos(accessToken)).status === 200
    return { ...set, entries, fill, approved, isAlive }
  }

  test.each<[string, number, (place: number) => string]>([
    ['100 of one client', 100, () => 'photo-book'],
    ['1000 of all clients', 1000, (place) => `client-${place % 20}`],
  ])('of %s drops what has ended first, and loses none that lives', async (_which, count, clientIdOf) => {
    const { flow, entries, fill } = open()
    const kept = [await flow.tokens(photoPrint), await flow.tokens(photoBook)]
    await fill(count + (count === 100 ? 1 : 0), clientIdOf)
    await flow.approve(photoBook)
    expect((await entries()).map(({ clientId }) => clientId)).toEqual([
      'photo-print',
      'photo-book',
      'photo-book',
    ])
    expect(outcomeOf(await flow.refresh(photoPrint, kept[0]?.refreshToken ?? ''))).toBe('tokens')
    expect(outcomeOf(await flow.refresh(photoBook, kept[1]?.refreshToken ?? ''))).toBe('tokens')
  })

  test('refuses an approval under way whose entry it has dropped', async () => {
    const { flow, store, entries, fill } = open({ skipConsent: () => true })
    const gate = new Gate()
    const { write } = store
    store.write = async (...given) => {
      if (given[0].startsWith('authorization:')) await gate.pass()
      return write(...given)
    }
    const slow = flow.ask(authorizationRequest(photoBook), 'alice')
    await waitUntil('the record is on its way', async () => gate.waiting > 0)
    store.write = write
    const [underWay] = await entries()
    await fill(100, () => 'photo-book')
    codeOf(await flow.ask(authorizationRequest(photoBook), 'alice'))
    expect(await entries()).not.toContainEqual(underWay)
    gate.open()
    expect(outcomeOf(await slow)).toBe('redirect temporarily_unavailable')
    expect(await store.read(`authorization:${underWay?.authorizationId}`)).toBeUndefined()
  })

  test('ends the oldest that was not redeemed, else the oldest of the client', async () => {
    const { flow, entries, approved, isAlive, oauth } = open()
    const first = [await approved(), await approved()]
    const code = await flow.approve(photoPrint)
    for (let count = 3; count < 100; count++) await approved()
    const last = await approved()
    expect([(await entries()).length, outcomeOf(await flow.redeem(photoPrint, code))]).toEqual([
      100,
      '400 invalid_grant',
    ])
    expect(await isAlive(first[0]?.accessToken ?? '')).toBe(true)
    await approved()
    expect(await Promise.all([...first, last].map(({ accessToken }) => isAlive(accessToken)))).toEqual([
      false,
      true,
      true,
    ])
    expect((await oauth.authorizations.list('alice', { limit: 1000 })).authorizations).toHaveLength(100)
  })

  test('ends the tokens of a one-time use, which stays used', async () => {
    const voucher = 'https://photos.example/grants/voucher'
    const vouchers: GrantType = {
      name: voucher,
      parameters: ['voucher'],
      handle: async ({ parameters }) => ({
        grant: {
          subject: 'alice',
          scope: ['photos:read'],
          refreshToken: false,
          extensionData: {},
          oneTimeUse: {
            key: parameters.require('voucher'),
            until: 4_000_000_000,
            refusal: () => new OAuthError('invalid_grant', 'voucher_used', 'This voucher is used.'),
          },
        },
      }),
    }
    const client = bent(photoPrint, { grant_types: [voucher] })
    const { flow, isAlive } = open({
      clients: [client.registration],
      plugins: [{ name: 'host-grant-types', grantTypes: [vouchers] }],
    })
    const spend = (one: string = randomUUID()) => flow.request(client, { grant_type: voucher, voucher: one })
    const first = tokensOf(await spend('first'))
    for (let count = 1; count < 100; count++) tokensOf(await spend())
    expect(await isAlive(first.accessToken)).toBe(true)
    tokensOf(await spend())
    expect(await isAlive(first.accessToken)).toBe(false)
    expect(outcomeOf(await spend('first'))).toBe('400 invalid_grant')
  })
})
