import { randomBytes } from 'node:crypto'
import type { KeyStore } from '../../../lib/index'
import { secureRandom } from '../../../lib/protocol/credential'
import { leadTime, livingKeys, signingKeyAt } from '../../../lib/jwt/signing-keys/key-schedule'
import type { OpenedKey } from '../../../lib/jwt/signing-keys/key-record'
import { KeysSealed, type KeyTerms, SharedKeys } from '../../../lib/jwt/signing-keys/shared-keys'
import { extent } from '../../support/extent'
import { WaitingKeys } from '../../support/stores/waiting-keys'

const day = 24 * 3600
const begin = 1_700_000_000
const secret = randomBytes(32).toString('base64')
const terms: KeyTerms = {
  issuer: 'https://auth.example',
  name: 'auth-example',
  algorithms: ['ES256'],
  rotateAfter: 90 * day,
  publishBefore: leadTime,
  secrets: [secret],
}

/** The keys as one process holds them. */
function processOn(store: KeyStore, bend: Partial<KeyTerms> = {}, lifetime = 3600): SharedKeys {
  const keys = new SharedKeys(store, { ...terms, ...bend }, secureRandom)
  keys.outlive(lifetime)
  return keys
}

const kidsOf = (keys: readonly { readonly kid: string }[]) => keys.map(({ kid }) => kid).toSorted()
const signerOf = (keys: readonly OpenedKey[], now: number) => signingKeyAt(keys, 'ES256', now)?.kid
const textIn = (store: WaitingKeys, name = terms.name) => store.texts.get(name)?.text ?? ''
const recordIn = (store: WaitingKeys): { keys: Record<string, unknown>[] } => JSON.parse(textIn(store))

function setRecord(store: WaitingKeys, record: object): void {
  const text = JSON.stringify(record)
  store.texts.set(terms.name, { text, revision: randomBytes(16).toString('base64url') })
}

test('the first key signs at once, and every process finds the same one', async () => {
  const store = new WaitingKeys()
  const processes = Array.from({ length: 64 }, () => processOn(store))
  const seen = await Promise.all(processes.map((each) => each.refresh(begin)))
  expect(new Set(seen.map((keys) => kidsOf(keys).join())).size).toBe(1)
  expect(seen[0]).toHaveLength(1)
  expect(signerOf(seen[0] ?? [], begin)).toBe(seen[0]?.[0]?.kid)
})

test('the store holds no private key in clear', async () => {
  const store = new WaitingKeys()
  const [key] = await processOn(store).refresh(begin)
  expect(textIn(store)).toContain(key?.kid)
  expect(textIn(store)).not.toContain(key?.secretText)
})

test.each(['ES256', 'EdDSA', 'RS256', 'PS256'] as const)(
  'a key for %s is made and opened again',
  async (name) => {
    const store = new WaitingKeys()
    const [made] = await processOn(store, { algorithms: [name] }).refresh(begin)
    const [opened] = await processOn(store, { algorithms: [name] }).refresh(begin)
    expect(opened?.publicKey).toEqual(made?.publicKey)
    expect((await opened?.sign(Buffer.from('text')))?.length).toBeGreaterThanOrEqual(64)
  },
)

test('a successor is published before it signs, and a key stays until its last token is dead', async () => {
  const store = new WaitingKeys()
  const process = processOn(store, {}, 7200)
  const [first] = await process.refresh(begin)
  expect(await process.refresh(begin + 90 * day - 1)).toHaveLength(1)
  const due = begin + 90 * day
  const during = await process.refresh(due)
  expect(during).toHaveLength(2)
  expect(signerOf(during, due)).toBe(first?.kid)
  expect(signerOf(during, due + leadTime - 1)).toBe(first?.kid)
  const after = await process.refresh(due + leadTime)
  expect(signerOf(after, due + leadTime)).not.toBe(first?.kid)
  expect(kidsOf(after)).toContain(first?.kid)
  expect(kidsOf(await process.refresh(due + leadTime + 7200 + 299))).toContain(first?.kid)
  expect(kidsOf(await process.refresh(due + leadTime + 7200 + 300))).not.toContain(first?.kid)
})

test('64 processes that rotate at once make one successor', async () => {
  const store = new WaitingKeys()
  await processOn(store).refresh(begin)
  const processes = Array.from({ length: 64 }, () => processOn(store))
  await Promise.all(processes.map((each) => each.refresh(begin + 90 * day)))
  expect(recordIn(store).keys).toHaveLength(2)
  await Promise.all(processes.map((each) => each.rotate(begin + 90 * day)))
  expect(recordIn(store).keys).toHaveLength(2)
})

test('a rotation by hand makes a successor for each key that signs, once', async () => {
  const store = new WaitingKeys()
  const process = processOn(store, { algorithms: ['ES256', 'EdDSA'] })
  await process.refresh(begin)
  await process.rotate(begin + 60)
  await process.rotate(begin + 120)
  expect(recordIn(store).keys).toHaveLength(4)
})

test('a longer lifetime of tokens keeps the key that signs for longer', async () => {
  const store = new WaitingKeys()
  await processOn(store, {}, 3600).refresh(begin)
  const [key] = await processOn(store, {}, 2 * day).refresh(begin)
  expect(key?.longest).toBe(2 * day)
  const shorter = processOn(store, {}, 60)
  await shorter.refresh(begin + 90 * day)
  const later = begin + 90 * day + leadTime + 2 * day
  expect(kidsOf(await shorter.refresh(later))).toContain(key?.kid)
})

test('a retired key is gone for every process, and its successor signs at once', async () => {
  const store = new WaitingKeys()
  const [one, other] = [processOn(store), processOn(store)]
  const [leaked] = await one.refresh(begin)
  await other.refresh(begin)
  expect(await one.retire(String(leaked?.kid), begin + 5)).toBe(true)
  const after = await other.refresh(begin + 10)
  expect(kidsOf(after)).not.toContain(leaked?.kid)
  expect(after).toHaveLength(1)
  expect(after[0]?.signsFrom).toBe(begin + 5)
  expect(await one.retire('unknown', begin + 5)).toBe(false)
})

test('a record that was lost is published again by a process that holds it, and a retired key never is', async () => {
  const store = new WaitingKeys()
  const [one, other] = [processOn(store), processOn(store)]
  const [kept] = await one.refresh(begin)
  await other.refresh(begin)
  store.texts.delete(terms.name)
  expect(kidsOf(await other.refresh(begin + 10))).toEqual([kept?.kid])
  expect(kidsOf(await one.refresh(begin + 10))).toEqual([kept?.kid])
  await one.retire(String(kept?.kid), begin + 20)
  store.texts.delete(terms.name)
  // The other process has not heard of the retirement yet.
  expect(kidsOf(await other.refresh(begin + 20))).not.toContain(kept?.kid)
})

test('a master that forgot the latest key gets it back', async () => {
  const store = new WaitingKeys()
  const process = processOn(store)
  await process.refresh(begin)
  const before = store.texts.get(terms.name)
  const during = await process.refresh(begin + 90 * day)
  if (before !== undefined) store.texts.set(terms.name, before)
  expect(kidsOf(await process.refresh(begin + 90 * day + 10))).toEqual(kidsOf(during))
  expect(recordIn(store).keys).toHaveLength(2)
})

test('who can write the store cannot add a key, nor bend one', async () => {
  const store = new WaitingKeys()
  const [own] = await processOn(store).refresh(begin)
  const stolen = new WaitingKeys()
  await processOn(stolen, { secrets: [randomBytes(32).toString('base64')] }).refresh(begin)
  const elsewhere = new WaitingKeys()
  await processOn(elsewhere, { issuer: 'https://other.example' }).refresh(begin)
  const [stored] = recordIn(store).keys
  const bent = [
    recordIn(stolen).keys[0],
    recordIn(elsewhere).keys[0],
    { ...stored, kid: 'mine' },
    { ...stored, kid: 'rsa', algorithm: 'EdDSA' },
    { ...stored, kid: own?.kid, createdAt: begin - 1 },
    { ...stored, algorithm: 'EdDSA' },
    { ...stored, longest: 1 },
  ]
  setRecord(store, { keys: [...bent, stored] })
  const keys = await processOn(store).refresh(begin + 10)
  expect(kidsOf(keys)).toEqual([own?.kid])
})

test.each<[string, string]>([
  ['no JSON', 'rubbish'],
  ['another form', '{"keys":{}}'],
  [
    'an unknown algorithm',
    '{"keys":[{"kid":"a","algorithm":"none","sealed":"x","createdAt":1,"signsFrom":1,"longest":1}]}',
  ],
  [
    'a time that is none',
    '{"keys":[{"kid":"a","algorithm":"ES256","sealed":"x","createdAt":"1","signsFrom":1,"longest":1}]}',
  ],
])('a record of %s fails, and is not replaced in silence', async (_what, text) => {
  const store = new WaitingKeys()
  store.texts.set(terms.name, { text, revision: 'r'.repeat(22) })
  await expect(processOn(store).refresh(begin)).rejects.toThrow(/cannot read|JSON/)
  expect(textIn(store)).toBe(text)
})

test('a lost secret is an error, and never a new key in silence', async () => {
  const store = new WaitingKeys()
  await processOn(store).refresh(begin)
  const before = textIn(store)
  const lost = processOn(store, { secrets: [randomBytes(32).toString('base64')] })
  await expect(lost.refresh(begin + 10)).rejects.toThrow(KeysSealed)
  await expect(lost.refresh(begin + 10)).rejects.toThrow(/Put the former secret back/)
  expect(textIn(store)).toBe(before)
})

test('a lost secret is an error for each algorithm, and retiring its keys is the way out', async () => {
  const store = new WaitingKeys()
  const next = randomBytes(32).toString('base64')
  const [lost] = await processOn(store).refresh(begin)
  const both = { algorithms: ['ES256', 'EdDSA'] as const, secrets: [next] }
  const [, other] = await processOn(store, { ...both, secrets: [next, secret] }).refresh(begin)
  const before = textIn(store)
  const process = processOn(store, both)
  for (const act of [() => process.refresh(begin + 10), () => process.rotate(begin + 10)])
    await expect(act()).rejects.toThrow(/keys of ES256 that no secret/)
  expect(textIn(store)).toBe(before)
  // The other algorithm is none of its business.
  expect(await process.retire(String(other?.kid), begin + 10)).toBe(true)
  expect(await process.retire(String(lost?.kid), begin + 10)).toBe(true)
  expect(new Set((await process.refresh(begin + 10)).map(({ algorithm }) => algorithm))).toEqual(
    new Set(both.algorithms),
  )
})

test.each([
  ['a successor', 90 * day, 400 * day],
  ['the first key', 0, 400 * day],
])('%s of a process whose clock is far ahead stops no rotation', async (_what, at, ahead) => {
  const store = new WaitingKeys()
  const [wrong, right] = [processOn(store), processOn(store)]
  if (at > 0) await right.refresh(begin)
  const far = await wrong.rotate(begin + at + ahead)
  const due = begin + Math.max(at, 60)
  const before = signerOf(far, due)
  const keys = await right.rotate(due)
  expect(keys).toHaveLength(far.length + 1)
  // No cache elsewhere knows the new key yet.
  expect(signerOf(keys, due)).toBe(before)
  expect(far.map(({ kid }) => kid)).not.toContain(signerOf(keys, due + leadTime))
  expect(await right.rotate(due + 10)).toHaveLength(keys.length)
  const next = due + leadTime + 90 * day
  expect((await processOn(store).refresh(next)).map(({ createdAt }) => createdAt)).toContain(next)
})

test('a successor is published for as long as the host says, also if the command makes it', async () => {
  const store = new WaitingKeys()
  const lead = 7 * 3600
  const process = processOn(store, { publishBefore: lead })
  const [first] = await process.refresh(begin)
  const keys = await process.refresh(begin + 90 * day)
  expect(keys.map(({ signsFrom }) => signsFrom)).toEqual([begin, begin + 90 * day + lead])
  expect(signerOf(keys, begin + 90 * day + lead - 1)).toBe(first?.kid)
  const command = processOn(store, { publishBefore: undefined })
  const later = begin + 100 * day
  expect((await command.rotate(later)).at(-1)?.signsFrom).toBe(later + lead)
})

test('a secret is changed in two steps: first every process knows both, then the new one seals', async () => {
  const store = new WaitingKeys()
  const next = randomBytes(32).toString('base64')
  const [first] = await processOn(store).refresh(begin)
  const knowing = processOn(store, { secrets: [secret, next] })
  const sealing = processOn(store, { secrets: [next, secret] })
  expect(kidsOf(await sealing.rotate(begin + 60))).toContain(first?.kid)
  expect(await knowing.refresh(begin + 70)).toHaveLength(2)
  const listed = await sealing.list(begin + 70)
  expect(listed.map(({ key, secret: place }) => [key.kid === first?.kid, place])).toEqual([
    [true, 1],
    [false, 0],
  ])
  // A process that knows only the old secret goes on with the key that it can open, and removes none.
  expect(kidsOf(await processOn(store).refresh(begin + 80))).toEqual([first?.kid])
  expect(recordIn(store).keys).toHaveLength(2)
})

// Every step of a rotation and of a retirement, each on a store that keeps what was written before. The ten steps beside
// either act of the other process are 10 rounds: 4 times in every run, 20 times in long ones.
const points = extent(40, 200)

describe.each(['refresh', 'retire'] as const)('A process that is killed during a %s', (act) => {
  test(`at any of ${points} points leaves one key that signs, and every key that signed`, async () => {
    for (let round = 0; round < points; round++) {
      const store = new WaitingKeys()
      const survivor = processOn(store)
      const [first] = await survivor.refresh(begin)
      const killed = processOn(store.killedAt((round % 10) + 1))
      const other = processOn(store)
      const due = begin + 90 * day
      const kid = String(first?.kid)
      await Promise.allSettled([
        act === 'refresh' ? killed.refresh(due) : killed.retire(kid, due),
        round % 2 === 0 ? other.refresh(due) : other.list(due),
      ])
      const [one, two] = await Promise.all([survivor.refresh(due + 10), other.refresh(due + 10)])
      expect([round, kidsOf(one)]).toEqual([round, kidsOf(two)])
      const later = due + 10 + leadTime
      const signer = signerOf(one, later)
      expect(signer).toBe(signerOf(two, later))
      expect(kidsOf(livingKeys(await processOn(store).refresh(later), later))).toContain(signer)
      const marked = textIn(store, `${terms.name}-retired`).includes(kid)
      expect(kidsOf(one).includes(kid)).toBe(!marked)
    }
  })
})
