import { inspect } from 'node:util'
import { eventNames } from '../support/events'
import { credentialFingerprint, wholeStory, type Told } from '../support/flows/whole-story'

let told: Told
beforeAll(async () => {
  told = await wholeStory()
})

/** The part of a text that must not be read: of a credential what follows its kind and the id, which is no secret. */
const secretPartOf = (secret: string) => (/^(?:at|rt|ac|ar)_/.test(secret) ? secret.slice(3 + 24) : secret)

test('a whole story has every event, and holds no secret in any', () => {
  expect(new Set(told.heard.map(({ event }) => event))).toEqual(new Set(eventNames))
  expect(told.secrets.size).toBeGreaterThan(25)
  const everything =
    JSON.stringify(told.heard) +
    inspect(told.heard, { depth: Infinity, showHidden: true, maxArrayLength: null })
  for (const secret of told.secrets) {
    const part = secretPartOf(secret)
    expect(part.length).toBeGreaterThan(10)
    for (const start of [0, Math.floor(part.length / 2)])
      expect(everything).not.toContain(part.slice(start, start + 12))
    expect(everything).not.toContain(Buffer.from(secret).toString('base64'))
  }
})

test('what an event shows of a credential is 8 digits of its digest, and of nothing else', () => {
  const marks = new Set(
    [...told.secrets].filter((secret) => /^(?:at|rt|ac|ar)_/.test(secret)).map(credentialFingerprint),
  )
  const shown = told.heard.flatMap(({ credential }) => (credential === undefined ? [] : [credential]))
  expect(shown.length).toBeGreaterThan(15)
  for (const mark of shown) expect(marks).toContain(mark)
})

test('one event tells the outcome of one request; a revocation that it brought follows', () => {
  const outcomes = new Map<unknown, readonly string[]>()
  for (const { event, requestId } of told.heard)
    if (event !== 'oldSecretUsed' && requestId !== undefined)
      outcomes.set(requestId, [...(outcomes.get(requestId) ?? []), event])
  expect(outcomes.size).toBeGreaterThan(25)
  expect([...outcomes.values()].filter(({ length }) => length > 1)).toEqual([
    ['reused', 'revoked'],
    ['replayed', 'revoked'],
  ])
})
