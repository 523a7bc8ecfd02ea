import { setTimeout } from 'node:timers/promises'
import type { AuthorizationList } from '../../../lib/index'
import { photoBook } from '../../support/flows/clients'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { redirectionOf } from '../../support/flows/redirection'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import { tokensOf, type Tokens } from '../../support/flows/tokens'
import { describeOnDatabases } from '../../support/stores/databases'

const rounds = 3
const clients = [photoBook.registration]

/** What a client of one owner heard, until its process died. */
interface Heard {
  readonly owner: string
  code?: string | undefined
  tokens?: Tokens
  /** Whether its revocation was sent, and whether it was done. */
  revocation?: 'asked' | 'done'
}

describeOnDatabases(
  'A process that is killed in the middle of many requests, on',
  ['Redis', 'SQLite'],
  (place) => {
    let other: ServerProcess
    let start: () => Promise<ServerProcess>
    beforeAll(async () => {
      const { store } = await place()
      start = () => startServer({ store, clients, authorizations: true })
      other = await start()
    })
    afterAll(() => other.kill())

    async function walk(flow: Flow, heard: Heard, isRevoked: boolean): Promise<void> {
      const approved = await flow
        .behind({ 'X-Approved': 'yes' })
        .ask(authorizationRequest(photoBook), heard.owner)
      heard.code = redirectionOf(approved).parameters['code']
      heard.tokens = tokensOf(await flow.redeem(photoBook, heard.code ?? ''))
      heard.tokens = tokensOf(await flow.refresh(photoBook, heard.tokens.refreshToken))
      if (!isRevoked) return
      heard.revocation = 'asked'
      expect((await flow.revoke(photoBook, heard.tokens.refreshToken)).status).toBe(200)
      heard.revocation = 'done'
    }

    const listed = async (owner: string): Promise<AuthorizationList> =>
      (await other.flow.open(`/operator/${owner}`)).body

    /** How it stands at the other process: at the guard, in the list, and at a refresh or redemption; and how it may. */
    async function endOf({ owner, code = '', tokens, revocation }: Heard) {
      const { flow } = other
      // Whether it was redeemed, nobody heard.
      if (tokens === undefined)
        return {
          owner,
          is: outcomeOf(await flow.redeem(photoBook, code)),
          possible: ['tokens', '400 invalid_grant'],
        }
      const { status } = await flow.photos(tokens.accessToken)
      const { authorizations } = await listed(owner)
      const again = outcomeOf(await flow.refresh(photoBook, tokens.refreshToken))
      const [alive, dead] = ['200, 1 listed, tokens', '401, 0 listed, 400 invalid_grant']
      const possible = { none: [alive], asked: [alive, dead], done: [dead] }[revocation ?? 'none']
      return { owner, is: `${status}, ${authorizations.length} listed, ${again}`, possible }
    }

    test('leaves what it acknowledged, listed, and nothing of what it ended', async () => {
      for (let round = 0; round < rounds; round++) {
        const doomed = await start()
        const all = Array.from({ length: 64 }, (_, index): Heard => ({ owner: `owner-${round}-${index}` }))
        const walking = all.map((heard, index) => walk(doomed.flow, heard, index % 2 === 0))
        await Promise.race(walking.filter((_, index) => index % 2 === 0))
        await setTimeout(Math.random() * 50)
        await doomed.kill()
        await Promise.allSettled(walking)
        expect(all.some(({ revocation }) => revocation === 'done')).toBe(true)
        const found = await Promise.all(all.map(endOf))
        expect(found.filter(({ is, possible }) => !possible.includes(is))).toEqual([])
      }
    })
  },
)
