import express, { type Request, type Response } from 'express'
import { photoBook } from '../flows/clients'
import { formOf, redemption } from '../flows/flow'
import { startServer } from '../start-server'

/** What a token request of the client was answered. */
export interface Redeemed {
  readonly status: number
  readonly accessToken: string
  /** How long the answer took. */
  readonly milliseconds: number
}

/** @param reach where the client itself is reached, and where it reaches the token endpoint; known once all listen. */
export async function startEagerClient(
  reach: () => { readonly client: string; readonly tokenEndpoint: string },
) {
  const redemptions: (Redeemed & { readonly state: string })[] = []
  const answers: { readonly state: string; readonly kind: string }[] = []
  const app = express()
  app.get('/', (_request, response) => void response.send('<h1>At home</h1>'))
  const answer = async (request: Request, response: Response): Promise<void> => {
    const { searchParams } = new URL(request.originalUrl, reach().client)
    const [code, state = '', error] = ['code', 'state', 'error'].map((name) => searchParams.get(name) ?? '')
    const isRefusal = code === undefined || code === ''
    answers.push({ state, kind: isRefusal ? String(error) : 'code' })
    if (isRefusal) {
      response.send(`<h1>Refused: ${error}</h1>`)
      return
    }
    const { client, tokenEndpoint } = reach()
    const fields = { ...redemption(photoBook, code), redirect_uri: `${client}/callback` }
    const body = formOf({ ...fields, client_id: photoBook.registration.client_id })
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const begun = performance.now()
    const reply = await fetch(tokenEndpoint, { method: 'POST', headers, body })
    const milliseconds = performance.now() - begun
    const document: { access_token?: string } = JSON.parse(await reply.text())
    redemptions.push({ state, status: reply.status, accessToken: document.access_token ?? '', milliseconds })
    response.send(`<h1>${reply.ok ? 'Connected' : 'Not connected'}</h1>`)
  }
  app.get('/callback', (request, response, next) => void answer(request, response).catch(next))
  const started = await startServer(app)
  return {
    ...started,
    /** What came to its redirection endpoint with this `state`, in order: `code`, or the error. */
    answers: (wanted: string) => answers.filter(({ state }) => state === wanted).map(({ kind }) => kind),
    /** Every redemption that belongs to this `state`. */
    redeemed: (wanted: string) => redemptions.filter(({ state }) => state === wanted),
  }
}

/** A client that redeems whatever code comes to its redirection endpoint, at once and each time. */
export type EagerClient = Awaited<ReturnType<typeof startEagerClient>>
