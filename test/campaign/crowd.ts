import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import type { Response } from 'supertest'
import {
  createAuthorizationServer,
  createIntrospectionGuard,
  deviceAuthorization,
  dpop,
  memoryStore,
  pushedAuthorizationRequests,
} from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { deviceCode } from '../support/flows/device-stage'
import { authorizationRequest, Flow, redemption, usualPaths } from '../support/flows/flow'
import { Prover } from '../support/flows/prover'
import { codeOf } from '../support/flows/redirection'
import { listening } from '../support/listening'

const phone = bent(photoBook, { grant_types: [...photoBook.registration.grant_types, deviceCode] })
const guardian = bent(nightlyReport, { may_introspect: true })
const device = '/device_authorization'

/** What came of a crowd: junk that was sent, steps of honest owners, and those steps that were refused. */
interface CrowdOutcome {
  readonly junk: number
  readonly steps: number
  readonly refused: readonly string[]
}

/**
 * Networks that send nothing but junk, so much each, beside honest owners: proofs of keys, polls, pushed requests, and
 * texts of tokens at a guard that asks by introspection. Every limit is on.
 */
export async function playCrowd(networks: number, each: number, owners: number): Promise<CrowdOutcome> {
  const app = express().set('trust proxy', 1)
  const { port, close } = await listening(createServer(app))
  const origin = `http://127.0.0.1:${port}`
  const plugIns = () => [dpop({ baseUrl: origin })]
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    issuer: origin,
    explainRefusals: false,
    store: memoryStore(),
    clients: [phone, guardian].map(({ registration }) => registration),
    plugIns: [...plugIns(), pushedAuthorizationRequests(), deviceAuthorization()],
  })
  const guard = createIntrospectionGuard({
    issuer: origin,
    client: { client_id: guardian.registration.client_id, client_secret: guardian.secret ?? '' },
    plugIns: plugIns(),
    maximumAge: 1,
  })
  app.use(oauth.router())
  app.get(usualPaths.photos, guard('photos:read'), (_request, response) => void response.json({}))
  const from = (address: string) => new Flow(origin, usualPaths, { 'X-Forwarded-For': address })
  const refused: string[] = []
  let [steps, sent] = [0, 0]
  try {
    const crowd = Array.from({ length: networks }, async (_, network) => {
      const flow = from(`203.0.113.${network}`)
      const prover = new Prover(Date.now, origin)
      for (let turn = 0; turn < each; turn += 1, sent += 1) await sendJunk(flow, prover, turn % 4)
    })
    const isOver = Promise.all(crowd).then(() => true)
    const live = async (owner: number): Promise<void> => {
      do {
        for await (const [name, expected, response] of honestSteps(
          from(`198.51.100.${owner}`),
          origin,
          owner,
        )) {
          steps += 1
          if (response.status !== expected)
            refused.push(`${name}: ${response.status} ${response.text.slice(0, 150)}`)
        }
      } while (!(await Promise.race([isOver, Promise.resolve(false)])) && refused.length === 0)
    }
    await Promise.all([isOver, ...Array.from({ length: owners }, (_, owner) => live(owner))])
  } finally {
    await close()
  }
  return { junk: sent, steps, refused }
}

const pushed = { ...authorizationRequest(phone), scope: 'photos:read' }

async function sendJunk(flow: Flow, prover: Prover, kind: number): Promise<unknown> {
  const junk = randomBytes(48).toString('base64url')
  if (kind === 0) return prover.tokens(flow, { grant_type: 'refresh_token', refresh_token: 'none' }, phone)
  if (kind === 1) return flow.request(phone, { grant_type: deviceCode, device_code: `rh_${junk}` })
  return kind === 2 ? prover.tokens(flow, pushed, phone, '/par') : flow.photos(junk)
}

type Step = readonly [name: string, expected: number, response: Response]

/** Each step of an honest owner with an app and a device, with the status that it must get. */
async function* honestSteps(flow: Flow, origin: string, owner: number): AsyncGenerator<Step> {
  const prover = new Prover(Date.now, origin)
  const { client_id } = phone.registration
  const push = await prover.tokens(flow, pushed, phone, '/par')
  yield ['push', 201, push]
  const page = await flow.ask({ client_id, request_uri: push.body.request_uri }, `owner-${owner}`)
  yield ['page', 200, page]
  const decided = await flow.decide(page, 'approve', `owner-${owner}`)
  yield ['decision', 303, decided]
  const redeemed = await prover.tokens(flow, redemption(phone, codeOf(decided)), phone)
  yield ['code', 200, redeemed]
  const { body } = redeemed
  yield ['guard', 200, await prover.call(flow, body.access_token)]
  const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
  yield ['refresh', 200, await prover.tokens(flow, refresh, phone)]
  const begun = await flow.request(phone, { scope: 'photos:read' }, device)
  yield ['device', 200, begun]
  const poll = { grant_type: deviceCode, device_code: begun.body.device_code }
  const polled = await flow.request(phone, poll)
  yield [`poll ${polled.body.error}`, polled.body.error === 'authorization_pending' ? 400 : 0, polled]
}
