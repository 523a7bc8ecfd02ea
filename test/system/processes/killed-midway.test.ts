import { setTimeout } from 'node:timers/promises'
import type { Response } from 'supertest'
import type { AuthorizationList } from '../../../lib/index'
import { extent } from '../../support/extent'
import { photoBook } from '../../support/flows/clients'
import { deviceSecret, television } from '../../support/flows/device-stage'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { type OpenRequest, wayNames, ways } from '../../support/flows/open-requests'
import { outcomeOf } from '../../support/flows/outcome'
import { redirectionOf } from '../../support/flows/redirection'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import { tokensOf, type Tokens } from '../../support/flows/tokens'
import { describeOnDatabases } from '../../support/stores/databases'

const rounds = 3
const clients = [photoBook.registration, television.registration]

/** What a client of one owner heard, until its process died. */
interface Heard {
  readonly owner: string
  code?: string | undefined
  tokens?: Tokens
  /** Whether its revocation was sent, and whether it was done. */
  revocation?: 'asked' | 'done'
}

/** How far the request of one owner came, until the process died. */
interface Reached {
  readonly way: (typeof wayNames)[number]
  readonly owner: string
  request?: OpenRequest
  page?: Response
  answer?: Response
  tokens?: Tokens
}

async function approveAndRedeem(flow: Flow, reached: Reached): Promise<void> {
  const { way, owner } = reached
  const request = (reached.request ??= await ways[way](flow, owner))
  const page = (reached.page ??= await request.page(flow, owner))
  const answer = (reached.answer ??= await request.decide(flow, page, 'approve', owner))
  reached.tokens ??= tokensOf(await request.tokens(flow, answer))
}

describeOnDatabases(
  'A process that is killed in the middle of many requests, on',
  ['Redis', 'SQLite'],
  (place) => {
    let other: ServerProcess
    let start: () => Promise<ServerProcess>
    beforeAll(async () => {
      const { store } = await place()
      start = () =>
        startServer({
          store,
          clients,
          authorizations: true,
          pushedRequests: true,
          deviceSecret,
          refreshTokenGrace: 300,
        })
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

    test('leaves each request of an owner to be decided once, and tokens for one', async () => {
      for (let round = 0; round < extent(2, 10); round++) {
        const doomed = await start()
        const all = Array.from({ length: 66 }, (_, index): Reached => {
          const way = wayNames[index % wayNames.length] ?? 'browser'
          return { way, owner: `${way}-${round}-${index}` }
        })
        const walking = all.map(async (each, index) => {
          await setTimeout(index * 5)
          await approveAndRedeem(doomed.flow, each)
        })
        await Promise.race(walking)
        await setTimeout(Math.random() * 100)
        await doomed.kill()
        await Promise.allSettled(walking)
        expect(all.some(({ tokens }) => tokens === undefined)).toBe(true)
        const ends = await Promise.all(
          all.map(async (each) => {
            const { way, answer, tokens } = each
            const outcome = await approveAndRedeem(other.flow, each).then(
              () => 'tokens',
              (error: unknown) => String(error),
            )
            // Whether the code was redeemed, nobody heard.
            if (way !== 'device' && answer !== undefined && outcome.includes('invalid_grant')) return []
            const again =
              way === 'device' && each.answer && (await each.request?.tokens(other.flow, each.answer))
            const isSame = !again || tokensOf(again).accessToken === each.tokens?.accessToken
            const { body } = await other.flow.photos(each.tokens?.accessToken ?? '')
            const isRight = outcome === 'tokens' && isSame && body.subject === each.owner
            return isRight ? [] : [{ ...each, had: tokens, outcome, isSame, body }]
          }),
        )
        expect(ends.flat()).toEqual([])
      }
    })
  },
)
