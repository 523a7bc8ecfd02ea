import { setImmediate } from 'node:timers/promises'
import { type AuthorizationIndex, memoryStore } from '../../../lib/index'
import { extent } from '../../support/extent'
import { application, withoutLimits } from '../../support/flows/application'
import { photoPrint } from '../../support/flows/clients'
import { Clock } from '../../support/flows/clock'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { codeOf } from '../../support/flows/redirection'
import { tokensOf, type Tokens } from '../../support/flows/tokens'
import { Chance, seedOfRun } from '../../support/races/chance'
import { waitingStore } from '../../support/stores/waiting-store'

const seed = seedOfRun()
const rounds = extent(4, 500)
const actors = 4

/** An index that is far away. */
function waitingIndex(index: AuthorizationIndex, chance: Chance): AuthorizationIndex {
  const late = async <T>(call: () => Promise<T>): Promise<T> => {
    for (let turns = chance.below(8); turns > 0; turns--) await setImmediate()
    return call()
  }
  return {
    add: (...given) => late(() => index.add(...given)),
    list: (...given) => late(() => index.list(...given)),
    remove: (...given) => late(() => index.remove(...given)),
    mark: (...given) => late(() => index.mark(...given)),
    revokeClient: (...given) => late(() => index.revokeClient(...given)),
    revokedBefore: (...given) => late(() => index.revokedBefore(...given)),
  }
}

/** Two servers on a store that is far away. The clock of the second is up to 4 seconds ahead. */
function twoServers(chance: Chance) {
  const clock = new Clock()
  const memory = memoryStore({ clock: clock.read })
  const store = { ...waitingStore(memory, chance), index: waitingIndex(memory.index, chance) }
  const ahead = chance.below(5) * 1000
  const [one, other] = [clock.read, () => clock.read() + ahead].map((time) =>
    application({ store, clock: time, storeDeadline: 10, authorizations: true, ...withoutLimits }),
  )
  if (one === undefined || other === undefined) throw new Error('There are no two servers.')
  return { clock, oauth: one.oauth, flows: [one.flow, other.flow] as const }
}

/** Gets tokens and refreshes them, each step at either server, until a step is refused. */
async function getTokens(flowOf: () => Flow): Promise<readonly Tokens[]> {
  const page = await flowOf().ask(authorizationRequest(photoPrint), 'alice')
  const decided = await flowOf().decide(page, 'approve', 'alice')
  if (outcomeOf(decided) !== 'redirect code') return []
  let answer = await flowOf().redeem(photoPrint, codeOf(decided))
  const found: Tokens[] = []
  for (let refreshes = 0; outcomeOf(answer) === 'tokens' && refreshes < 3; refreshes++) {
    const tokens = tokensOf(answer)
    found.push(tokens)
    answer = await flowOf().refresh(photoPrint, tokens.refreshToken)
  }
  return found
}

test(`no token of a client outlives its revocation, whatever races with it, RACES_SEED=${seed}`, async () => {
  const chance = new Chance(seed)
  let obtained = 0
  for (let round = 0; round < rounds; round++) {
    const { clock, oauth, flows } = twoServers(chance)
    const racing = Array.from({ length: actors }, () => getTokens(() => chance.among(flows)))
    for (let turns = chance.below(400); turns > 0; turns--) await setImmediate()
    await oauth.authorizations.revokeClient('photo-print')
    const tokens = (await Promise.all(racing)).flat()
    obtained += tokens.length
    clock.advance(1)
    for (const flow of flows)
      for (const { accessToken, refreshToken } of tokens) {
        expect((await flow.photos(accessToken)).status).toBe(401)
        expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
      }
    clock.advance(10)
    const { accessToken } = await flows[0].tokens(photoPrint)
    for (const flow of flows) expect((await flow.photos(accessToken)).status).toBe(200)
  }
  expect(obtained).toBeGreaterThan(0)
})
