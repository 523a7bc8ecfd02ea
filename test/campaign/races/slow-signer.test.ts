import { setImmediate } from 'node:timers/promises'
import { type AccessTokenClaims, memoryStore } from '../../../lib/index'
import { application } from '../../support/flows/application'
import { photoPrint } from '../../support/flows/clients'
import { Clock } from '../../support/flows/clock'
import { Gate } from '../../support/flows/gate'
import { claimsIn, signedFormat } from '../../support/flows/signed-format'
import { refusalOf } from '../../support/flows/tokens'
import { Chance, seedOfRun } from '../../support/races/chance'
import { waitingStore } from '../../support/stores/waiting-store'
import { waitUntil } from '../../support/wait-until'

const signed = signedFormat('signed')

/** A server whose signer waits for a gate, once the test has closed it. */
function serverWithGate() {
  const written: AccessTokenClaims[] = []
  const at: { gate?: Gate } = {}
  const encode = async (claims: AccessTokenClaims) => {
    written.push(claims)
    await at.gate?.pass()
    return signed.encode(claims)
  }
  const { read: clock } = new Clock()
  const store = memoryStore({ clock })
  return { ...application({ store, clock, accessTokenFormats: [{ ...signed, encode }] }), store, written, at }
}

const waiting = (gate: Gate, many: number) =>
  waitUntil(`${many} wait for the signer`, async () => gate.waiting === many, 20)

test('two refreshes that wait for the signer together end with the same tokens', async () => {
  const { flow, written, at } = serverWithGate()
  const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
  const gate = (at.gate = new Gate())
  const both = [1, 2].map(() => flow.refresh(photoPrint, body.refresh_token))
  await waiting(gate, 2)
  gate.open()
  const [first, second] = await Promise.all(both)
  expect(first?.status).toBe(200)
  expect(second?.body).toEqual(first?.body)
  // One lost the record to the other, and had its token written again: the first attempt of it is nowhere.
  expect(written).toHaveLength(4)
  const lost = written
    .filter(({ tokenId }) => tokenId !== claimsIn(first?.body.access_token).tokenId)
    .slice(1)
  expect(lost).toHaveLength(1)
  for (const claims of lost) expect((await flow.photos(await signed.encode(claims))).status).toBe(401)
  expect((await flow.photos(first?.body.access_token)).status).toBe(200)
})

test('a revocation while the signer works wins: the refresh gives nothing', async () => {
  const { flow, written, at } = serverWithGate()
  const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
  const gate = (at.gate = new Gate())
  const slow = flow.refresh(photoPrint, body.refresh_token)
  await waiting(gate, 1)
  await flow.revoke(photoPrint, body.refresh_token)
  gate.open()
  expect(refusalOf(await slow)).toBe('400 invalid_grant')
  for (const claims of written) expect((await flow.photos(await signed.encode(claims))).status).toBe(401)
})

test('of two redemptions that wait for the signer together, one wins, and the other is a replay', async () => {
  const { flow, written, at } = serverWithGate()
  const code = await flow.approve(photoPrint)
  const gate = (at.gate = new Gate())
  const both = [1, 2].map(() => flow.redeem(photoPrint, code))
  await waiting(gate, 2)
  gate.open()
  const statuses = (await Promise.all(both)).map(({ status }) => status)
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 400])
  for (const claims of written) expect((await flow.photos(await signed.encode(claims))).status).toBe(401)
})

test('whoever insists gets the same tokens, however often the signer fails and whatever comes first', async () => {
  const seed = seedOfRun()
  const chance = new Chance(seed)
  for (let round = 0; round < 40; round++) {
    const encode = async (claims: AccessTokenClaims) => {
      for (let turns = chance.below(12); turns > 0; turns--) await setImmediate()
      if (chance.below(3) === 0) throw new Error('The signer is gone.')
      return signed.encode(claims)
    }
    const format = { ...signed, encode }
    const { read: clock } = new Clock()
    const store = waitingStore(memoryStore({ clock }), chance)
    const { flow } = application({ store, clock, storeDeadline: 10, accessTokenFormats: [format] })
    const code = await flow.approve(photoPrint)
    const { body } = await insist(() => flow.redeem(photoPrint, code))
    const all = await Promise.all(
      [1, 2, 3].map(() => insist(() => flow.refresh(photoPrint, body.refresh_token))),
    )
    const tokens = all.map((answer) => [answer.status, answer.body.access_token, answer.body.refresh_token])
    expect([seed, round, ...tokens]).toEqual([seed, round, tokens[0], tokens[0], tokens[0]])
    expect(tokens[0]?.[0]).toBe(200)
  }
})

/** Asks again as long as the server has failed. */
async function insist<Answer extends { readonly status: number }>(
  ask: () => PromiseLike<Answer>,
): Promise<Answer> {
  const answer = await ask()
  return answer.status === 500 ? insist(ask) : answer
}
