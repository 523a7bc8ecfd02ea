import type { Response } from 'supertest'
import { mountAll, type Application, type Hosting } from './application'
import { photoPrint, type ClientApplication } from './clients'
import { basic, type Flow } from './flow'
import { refusalOf } from './tokens'

/** What is said to a guess: over a limit, to a wrong one, and to a secret that is right. */
export const limited = '429 temporarily_unavailable'
export const wrong = '401 invalid_client'
export const proven = '400 invalid_grant'

/** A host that believes its proxy. */
export const trusting: Hosting = {
  mount: (app, oauth) => {
    app.set('trust proxy', 'loopback')
    mountAll(app, oauth)
  },
}

export const from = ({ flow }: Pick<Application, 'flow'>, address: string) =>
  flow.behind({ 'X-Forwarded-For': address })

/** An invalid grant: only a proven client learns what is wrong with it. */
export const noGrant = { grant_type: 'refresh_token', refresh_token: 'none' }

export async function come(flow: Flow, clientId: string, secret: string): Promise<Response> {
  return flow.submit('/token', noGrant, undefined, { Authorization: basic(clientId, secret) })
}

/** The client itself comes. */
export async function right(flow: Flow, client: ClientApplication = photoPrint): Promise<string> {
  return refusalOf(await come(flow, client.registration.client_id, client.secret ?? ''))
}

let guesses = 0
/** A guess that was not made before. */
export async function guess(flow: Flow, clientId = 'photo-print'): Promise<string> {
  return refusalOf(await come(flow, clientId, `guess ${guesses++}`))
}

export async function guessTimes(times: number, flow: Flow, clientId = 'photo-print'): Promise<void> {
  for (let time = 0; time < times; time++) expect(await guess(flow, clientId)).toBe(wrong)
}

export const countOf = (outcomes: readonly string[], outcome: string) =>
  outcomes.filter((each) => each === outcome).length
