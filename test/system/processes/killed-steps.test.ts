import type { Response } from 'supertest'
import { photoBook } from '../../support/flows/clients'
import { consentFormOf } from '../../support/flows/consent-form'
import { deviceCode, deviceSecret, television } from '../../support/flows/device-stage'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { codeOf } from '../../support/flows/redirection'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import { type Tokens, tokensOf } from '../../support/flows/tokens'
import { describeOnDatabases, type SharedPlace } from '../../support/stores/databases'

const clients = [photoBook.registration, television.registration]
const asked = authorizationRequest(photoBook)

interface Scene {
  /** At the process that dies, and again at the one that lives. */
  readonly act: (flow: Flow) => Promise<Response>
  /** What must hold once somebody has acted at the process that lives. @param answer of it. */
  readonly check: (answer: Response) => Promise<void>
}

/** Both answers give the same tokens, which are good. */
async function expectSame(flow: Flow, one: Response, other: Response): Promise<Tokens> {
  const tokens = tokensOf(one)
  expect(tokensOf(other)).toMatchObject({
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken,
  })
  expect((await flow.photos(tokens.accessToken)).status).toBe(200)
  return tokens
}

async function askedDevice(flow: Flow) {
  const { body } = await flow.request(television, { scope: 'photos:read' }, '/device_authorization')
  const page = await flow.enterCode({ user_code: body.user_code }, 'alice')
  const { fields } = consentFormOf(page, '/device')
  return {
    decide: (at: Flow) => at.submit('/device', { ...fields, decision: 'approve' }, 'alice'),
    poll: (at: Flow) => at.request(television, { grant_type: deviceCode, device_code: body.device_code }),
  }
}

/** Prepares each act at the process that lives. */
const acts: Readonly<Record<string, (living: Flow) => Promise<Scene>>> = {
  async 'a decision'(living) {
    const page = await living.ask(asked, 'alice')
    return {
      act: (flow) => flow.decide(page, 'approve', 'alice'),
      async check(answer) {
        const code = codeOf(answer)
        expect(codeOf(await living.decide(page, 'approve', 'alice'))).toBe(code)
        tokensOf(await living.redeem(photoBook, code))
        expect(outcomeOf(await living.redeem(photoBook, code))).toBe('400 invalid_grant')
      },
    }
  },
  async 'a decision for a device'(living) {
    const { decide, poll } = await askedDevice(living)
    return {
      act: decide,
      async check(answer) {
        expect(outcomeOf(answer)).toBe('question')
        await expectSame(living, await poll(living), await poll(living))
      },
    }
  },
  async 'a poll'(living) {
    const { decide, poll } = await askedDevice(living)
    await decide(living)
    return { act: poll, check: async (answer) => void (await expectSame(living, answer, await poll(living))) }
  },
  async 'a refresh'(living) {
    const { refreshToken } = await living.tokens(photoBook)
    const refresh = (flow: Flow, token = refreshToken) => flow.refresh(photoBook, token)
    return {
      act: refresh,
      async check(answer) {
        const next = await expectSame(living, answer, await refresh(living))
        tokensOf(await refresh(living, next.refreshToken))
      },
    }
  },
  async 'a redemption'(living) {
    const code = await living.approve(photoBook)
    const redeem = (flow: Flow) => flow.redeem(photoBook, code)
    return {
      act: redeem,
      async check(answer) {
        expect(['tokens', '400 invalid_grant']).toContain(outcomeOf(answer))
        expect(outcomeOf(await redeem(living))).toBe('400 invalid_grant')
        if (answer.status === 200)
          expect((await living.photos(tokensOf(answer).accessToken)).status).toBe(401)
      },
    }
  },
}

describeOnDatabases('A process dies before or after each step, on', ['SQLite', 'PostgreSQL'], (place) => {
  let shared: SharedPlace
  let living: ServerProcess
  const start = (isMortal: boolean) =>
    startServer({ store: shared.store, clients, deviceSecret, refreshTokenGrace: 300, isMortal })
  beforeAll(async () => {
    shared = await place()
    living = await start(false)
  })
  afterAll(() => living.kill())

  test.each(Object.keys(acts))('of %s: who acts again at another process gets one outcome', async (name) => {
    let deaths = 0
    for (const moment of ['before', 'after'])
      for (let step = 1, isOver = false; !isOver; step++) {
        const doomed = await start(true)
        const { act, check } = (await acts[name]?.(living.flow)) ?? {}
        await doomed.flow.open(`/die/${step}/${moment}`)
        const answer = await act?.(doomed.flow).catch(() => undefined)
        isOver = answer !== undefined
        deaths += isOver ? 0 : 1
        const again = await act?.(living.flow)
        if (again === undefined) throw new Error(`No act has the name ${name}.`)
        await check?.(again)
        await doomed.kill()
      }
    expect(deaths).toBeGreaterThan(3)
  })
})
