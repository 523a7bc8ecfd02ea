import { fields as registering } from '../../lib/clients/dynamic-registration/registration-options'
import { DynamicClientRecords } from '../../lib/clients/dynamic-registration/dynamic-clients'
import { hostLimits } from '../../lib/clients/document-fetch/document-fetch'
import { type ClientRegistration, memoryStore } from '../../lib/index'
import { SecretVerifier } from '../../lib/client-authentication/client-secret'
import { singleUses, singleUsesOption } from '../../lib/limits/counters'
import { issueLimits, issuingLimits } from '../../lib/limits/shares'
import { readOptions } from '../../lib/primitives/schema'
import { anyCapabilities, parseStoredClient } from '../../lib/protocol/parse-client'
import { fields as pushing, pushShares } from '../../lib/pushed-requests/pushed-requests'
import { noon } from '../support/noon'
import { photoBook, photoPrint } from '../support/flows/clients'

// What a server counts where the host says nothing: too much for requests over HTTP, so in a time that stands still.

const clock = () => noon * 1000
const now = () => noon
const issuing = () => issueLimits(readOptions('', { issuing: issuingLimits }, {}).issuing, clock)
const uses = () => singleUses(readOptions('', { uses: singleUsesOption }, {}).uses, clock)
const pushes = () => pushShares({ now }, readOptions('', { limits: pushing.limits }, {}).limits)
// Without members of plug-ins, none is looked for among misspelt ones, which takes a while.
const clientOf = ({ registration }: { readonly registration: ClientRegistration }) =>
  parseStoredClient(registration, { ...anyCapabilities, members: [] })

test.each<[string, number, () => (at: number) => unknown]>([
  [
    'tokens to one client',
    30_000,
    () => {
      const limits = issuing()
      return (at) => limits.countOfRequest()('photo-print', `owner ${at % 1000}`)
    },
  ],
  [
    'tokens for one owner at one client',
    600,
    () => {
      const limits = issuing()
      return () => limits.countOfRequest()('photo-print', 'alice')
    },
  ],
  [
    'single uses of one client',
    60_000,
    () => {
      const use = uses()
      return () => use?.('photo-print')
    },
  ],
  [
    'pushed requests of one client with credentials',
    30_000,
    () => {
      const [push, client] = [pushes(), clientOf(photoPrint)]
      return (at) => push(client, `192.0.2.${at % 250}`)
    },
  ],
  [
    'pushed requests of other clients from one network',
    300,
    () => {
      const [push, client] = [pushes(), clientOf(photoBook)]
      return () => push(client, '192.0.2.1')
    },
  ],
  [
    'pushed requests of other clients from one /48 of IPv6',
    4800,
    () => {
      const [push, client] = [pushes(), clientOf(photoBook)]
      return (at) => push(client, `2001:db8:0:${(at % 100).toString(16)}::1`)
    },
  ],
  [
    'fetches of documents from one address, by however many names',
    2400,
    () => {
      const limits = hostLimits(clock)
      return () => limits.countConnection(['192.0.2.1'])
    },
  ],
])('%s are %i in a minute, and no more', (_what, most, open) => {
  const count = open()
  for (let at = 0; at < most; at++) count(at)
  expect(() => count(most)).toThrow(/again later|not available/)
})

test('10000 clients register themselves within the time of an unused one, and no more', async () => {
  const { maximumClients, unusedLifetime } = readOptions(
    '',
    { maximumClients: registering.maximumClients, unusedLifetime: registering.unusedLifetime },
    {},
  )
  expect([maximumClients, unusedLifetime]).toEqual([10_000, 3600])
  const records = new DynamicClientRecords(memoryStore({ clock }), now)
  const { client_id: _id, ...stated } = photoBook.registration
  const add = (at: number) => {
    const client_id = `dynamic_${String(at).padStart(22, '0')}`
    const client = { registration: { ...stated, client_id }, issuedAt: noon, secretExpiries: [] }
    return records.add({ ...client, issuerDigest: '', tokenLifetime: 60 }, unusedLifetime, maximumClients)
  }
  for (let at = 0; at < 10_000; at++) await add(at)
  await expect(add(10_000)).rejects.toMatchObject({ reason: 'registrations_full' })
})

test('1000 right secrets stay in memory, each for a day, and for five minutes without another look', async () => {
  let seconds = noon
  const asked: string[] = []
  const secrets = new SecretVerifier(
    () => seconds * 1000,
    (digest, secret) => asked.push(secret) > 0 && digest.startsWith(secret),
  )
  const statuses: unknown[] = []
  const comes = (at: number) => {
    const secret = `secret-${at}`.padEnd(32, '.')
    const client = clientOf({ registration: { ...photoPrint.registration, client_secret_hashes: [secret] } })
    return secrets.verifyChosen(client, secret, async (verification, status) => {
      statuses.push(status)
      return (await verification()) === true
    })
  }
  for (let at = 0; at < 1000; at++) expect(await comes(at)).toBe(true)
  for (const at of [0, 1000, 0, 1]) await comes(at)
  expect([asked.length, statuses.slice(1000)]).toEqual([1002, ['known', undefined, 'known', undefined]])
  for (const [wait, status, looks] of [
    [299, 'known', 0],
    [1, 'known', 1],
    [86_399, 'known', 1],
    [86_400, undefined, 1],
  ] as const) {
    const before = asked.length
    seconds += wait
    await comes(1)
    expect([wait, statuses.at(-1), asked.length - before]).toEqual([wait, status, looks])
  }
})
